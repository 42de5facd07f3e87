// Package storage keeps sessions in SQLite. Every durable event is on disk
// before anyone is shown it, with a checksum that is verified when it is read.
// It implements [backend.Store].
//
// There is one writing connection; readers use their own. Several processes may
// work on one database: transactions begin IMMEDIATE and wait for each other.
// Opening never repairs, moves or overwrites an unusable database; the error
// says why it is unusable.
//
// A damaged row does not affect other rows. A warning replaces a damaged or
// missing event. A session's row is a fold of its events: if it is damaged it
// is folded again, and the next append repairs it. [Store.Health] says what is
// known to be wrong, and [Repair] rebuilds a damaged database.
//
// # Looking after the database
//
// A start counts sessions by their rows and by their logs in a few milliseconds; up to 4 MB the
// whole file is checked before it is used, a larger one by [Store.Verify] while it is used. A
// database that has to be migrated is copied first into backups, of which the newest three stay;
// migrations and the check of their result are one transaction. No timer removes anything. A
// database with migrations that this program does not know is opened read-only if all queries that
// read still compile. A write-ahead log that was removed or cut is noticed after a kill, because
// each process notes what it stored last in a file that need not be synced (mark.go).
//
// [Repair] reads the pages of the file and of the write-ahead log without SQLite (pages.go,
// cells.go), which gives up at the first damaged page of a tree, and takes the rows whose checksums
// match. Everything else follows from the events (refold.go). Pages on the list of free ones are
// passed over, so that what was deleted stays deleted. A new table that cannot be derived from the
// log has to be added to salvage.go.
//
// # Lists, forks, imports
//
// list.go reads sessions in pages of 50: one query puts all rows of the folder in order by what
// they say, without decoding them. A fork copies the rows up to the cut under their own numbers,
// with checksums of the new session; large events are linked. CreateSessionFrom stores an import in
// parts.
package storage
