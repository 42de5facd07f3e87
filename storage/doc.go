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
package storage
