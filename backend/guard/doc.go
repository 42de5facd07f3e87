// Package guard keeps permission rules: those in the settings files of the user
// and of the project, and those of a session. It reads the files again when they
// have changed, and says which of their rules hold.
//
// Deny and ask rules hold wherever they stand. An allow rule of a project's files
// holds once the user has accepted it; the user's own data remembers that, rule by
// rule.
//
// A file is read again when its stamp has changed, below an os.Root, and is written whole with its
// other members as they were. Accepted rules are remembered by their digest, one by one, so a
// changed file asks about what is new in it alone. A rule that cannot be read makes commands ask if
// it would deny or ask; a file that cannot be read makes ask what no other rule allows. The method
// permissions.try judges the newest 2,000 calls by a draft, without looking at files or starting
// anything.
package guard
