// Package transfer lets sessions leave as files, and makes sessions of the files of other
// programs. What leaves is read once to learn its secrets, and a second time without
// them. What comes in is a stranger's: it is read within limits, and nothing of it acts.
//
// An imported session is stored in parts, outside the ledger, and counts as deleted until the last
// part; what a crash leaves of it is removed at the next start. The last event, session_imported,
// says where it is from.
package transfer
