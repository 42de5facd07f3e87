// Package storage keeps sessions in SQLite: every durable event in its own
// transaction, on the disk before anyone is shown it, with a checksum that is
// verified when it is read. It implements [backend.Store].
//
// There is one writing connection; readers use their own. Several processes
// may work on one database: transactions begin IMMEDIATE and wait for each
// other. Opening never repairs, moves or overwrites anything: a database that
// cannot be used is left as it is, and the error says why.
//
// One damaged row takes no other with it. In the place of an event that is damaged
// or missing there is a warning. What lists show of a session is a fold of its
// events: where its row is damaged it is folded again, and the next append
// repairs the row. Two kinds of loss are not noticed: a write-ahead log that
// lost its end, because SQLite takes what is left of it for all there was, and
// a damaged number in the ledger.
package storage
