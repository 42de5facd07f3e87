// Package project reads what a project says about itself before anyone works in
// it: the state of its repository and its documents for agents. All of it is
// untrusted data from files that somebody else may have written.
//
// A document brings what it imports with @path (imports.go): five levels deep, not from code,
// inside the project, and no files that usually hold secrets. Rules for certain files
// (.claude/rules, rules.go) come once the agent works on one. If documents are too long together,
// the deepest are kept.
//
// A moved folder is known again (identity.go) by its device, number and time of birth on the disk,
// or by its repository's first commit and the path in it. Both are kept in the database: a marker
// file would be written without the user's wish, would travel with copies and clones, and would
// turn up in git status.
package project
