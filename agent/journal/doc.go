// Package journal records what steps do to files, so that it can be undone. It
// needs no git, and leaves a repository's index alone.
//
// A call that names the files that it writes is recorded by reading these files
// before and after. A command may change anything in its folder: the journal knows
// the folder's files as they were, has kept their contents in the background, and
// learns from the system what changed ([watch]). It does not follow ignored files or
// folders that other programs fill.
//
// # What is recorded, and when
//
// The contents are objects, named by their SHA-256 (package objects). Files of .env and the like
// are kept as well, because undoing has to bring them back; they never leave the machine. From a
// session's first prompt on, the files that no ignore file names are read in the background; an
// index of sizes, times and hashes spares the next process the reading. On Linux inotify names what
// changed: its queue is read only before and after a command, and the kernel fills it before a call
// returns. After an overflow, and on every other system, all files are looked at. A file that
// changes so soon after it was read that its times may not show it is read again.
//
// A change belongs to one step: to the one whose end finds it, else to the one that has run
// longest. What is found while none runs is somebody else's. A hook is a step, too. An intent on
// the disk lets the next process say what a step changed that kill -9 cut off. What is undone while
// a step of another session runs is not a part of that step ([Journal.Apart]).
//
// # Limits
//
// The record says what was not seen: beyond 50,000 files or 20,000 directories, or if the first
// command would wait more than two seconds. Files beyond 4 MB are not kept. Beyond 2,000 files an
// event lists no more, and the journal keeps the other records (lists.go). Changes of a background
// command after the end of its call belong to nobody, unless another step runs. Changes through a
// name of a file outside the folder go unnoticed. Directories are entered one by one below an
// os.Root, never through a link; a call that names a file through a link is recorded under its own
// name.
package journal
