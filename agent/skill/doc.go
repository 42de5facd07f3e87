// Package skill finds, reads and offers skills: instructions in files, which a person or
// a model puts to use. A command from a file is a skill that only a person uses by its
// name. The text of a project's skill is untrusted: it widens what a session may do only
// where the user trusts it, which is its caller's concern (see [Limits.Approved]).
//
// [Roots] has the folders in their order, and of one name the later folder wins ([Resolve]). A
// project's links are followed within the project alone, also if a file is swapped while it is read
// (package filetree); the user's own folders may link to anywhere. Of a skill only SKILL.md is read, up to 1
// MB; its other files are listed, and opened for their first two bytes, which say whether they can
// be run. Nothing fails: what is wrong is a finding with its line, and what cannot be read hides no
// other skill.
//
// A limit is never lost: a list of tools that cannot be read allows no tool, a name that is not
// known matches no call, and frontmatter beyond 64 KB keeps the skill from loading. segment.go
// tells prose from code, once for everything that is replaced: $1 in fenced code is a script's own,
// a line with ! in an example runs nothing, and what arguments, files and lines say is put in as it
// is and not read again.
package skill
