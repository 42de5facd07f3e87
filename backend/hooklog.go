package backend

import (
	"context"

	"atelier.dev/atelier/agent"
)

// HookLog keeps what hooks did. Entries of sessions that do not exist are left out,
// and an entry goes with its session.
type HookLog interface {
	// AddHookRecords adds records in one transaction. Beyond [HookRecordsKept] of a
	// session and [HookRecordsInAll], or [HookBytesInAll], the oldest go; the limits
	// of all sessions may be exceeded by a few hundred for a while.
	AddHookRecords(context.Context, ...HookRecord) error
	// HookRecords returns records without their bodies, the newest first. Damaged
	// ones are left out.
	HookRecords(context.Context, HookRange) ([]HookRecord, error)
	// HookRecord returns a record of a folder's session. It returns CodeNotFound if
	// there is none, or if it is damaged.
	HookRecord(ctx context.Context, folder string, id int64) (HookRecord, error)
	// LastHookRecords returns the newest record of each hook of which the log has
	// one, without the bodies, by hook. Hooks that were not matched do not count. An
	// empty session means all of the folder.
	LastHookRecords(ctx context.Context, folder, session string, hooks []string) (map[string]HookRecord, error)
}

// The limits of the log of hooks.
const (
	HookRecordsKept  = 5000
	HookRecordsInAll = 50_000
	HookBytesInAll   = 256 << 20
)

// HookRecord is one hook that was considered.
type HookRecord struct {
	ID      int64 // 0 before it is stored
	Session string
	At      int64
	Hook    string
	Point   agent.HookPoint
	Tool    string
	CallID  string
	Outcome string
	Row     []byte // JSON, for lists
	Body    []byte // JSON, the rest
}

// HookRange selects records of a folder's sessions, with Before > 0 those with a
// smaller id. Empty texts leave a side open; a session stands for its agents, too.
type HookRange struct {
	Folder, Session, Hook string
	Point                 agent.HookPoint
	Tool, CallID, Outcome string
	Before                int64
	Limit                 int
}
