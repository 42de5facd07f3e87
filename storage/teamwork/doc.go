// Package teamwork keeps in the database what agents share: the tasks of boards, teams, and the
// messages between agents. Package storage opens the database and hands over what it takes.
//
// Each change is one immediate transaction, which reads, decides and writes, so that of two that
// claim a task the second sees the first, in whatever process. Nothing is locked besides. A
// message is put into its reader's queue in the transaction that keeps it, and leaves it in the
// one that stores that it was read, which marks it as delivered (a trigger).
package teamwork
