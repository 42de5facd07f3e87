// Package editors opens files in the user's editor. No shell takes part, so a name is
// never more than a name.
//
// The user's editor is a preference, which no file of a project can set. Its command is split into
// words, without a shell; if it ends with an error within a second, the page reports that.
package editors
