// Package team lets agents work together under names: teams with a leader and members, and messages
// between them (OAS-319 to OAS-321, OAS-512 to OAS-517).
//
// A [Roster] is the value with the rules of teams, as board.Board is for tasks; a [Tables] keeps
// rosters and messages, and [Memory] does so without a database. A [Desk] is what one agent may do,
// and [Tools] makes tools for its model of it. A program that wants the pieces by themselves has
// [Mailbox] and [Registry].
//
// A message reaches its reader's model at the beginning of the next round: the host puts it into
// the queue of the reader's session, so that taking it and recording that it was read are one
// step. Another agent wrote it: it is marked as such, and never counts as a person's word.
package team
