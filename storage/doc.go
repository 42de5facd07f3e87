// Package storage keeps sessions in SQLite: every durable event in its own
// transaction, on the disk before anyone is shown it, with a checksum that is
// verified when it is read. It implements [backend.Store].
//
// There is one writing connection; readers use their own. Several processes
// may work on one database: transactions begin IMMEDIATE and wait for each
// other. Opening never repairs, moves or overwrites anything: a database that
// cannot be used is left as it is, and the error says why.
package storage
