// Package changes answers what changed in a working folder, and puts it back:
// the edits that a session's tools and commands made, and the differences that git
// knows.
//
// It reaches files and git through the folder's [env.Environment]. A repository
// is treated as hostile: nothing that it configures is run, no symbolic link is
// followed out of the folder, and every answer is bounded.
//
// A session's log has a diff of every edit that its tools and agents made. What other calls changed
// is compared from the versions that the journal kept, up to 8 MB a session. Taken out of the
// present file in reverse order, they give one difference, which leaves out what others changed; if
// they cannot be taken out, they are shown one after another. Put back means a three-way merge
// without conflicts: the new side of a hunk must stand in the file, at its place or once elsewhere.
// Otherwise nothing is touched. git runs without hooks, filters and external diffs, so a commit
// says which hooks it skipped and whether it is unsigned.
package changes
