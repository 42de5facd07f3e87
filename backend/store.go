package backend

import (
	"context"
	"iter"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/team"
)

// Store keeps sessions, approvals and settings. Its errors are *[Error] with a
// store code, or CodeNotFound. It is safe for concurrent use, also by several
// processes.
type Store interface {
	// CreateSession adds a session without events.
	CreateSession(context.Context, SessionInfo) error
	// CreateSessionFrom adds a session with its log. Nothing of it enters the ledger, and
	// no request in it waits for an answer. The events get their places; an error among
	// them leaves nothing behind. The session was created at the time of the first one if
	// info does not say when. Others are stored meanwhile: until the log is complete, the
	// session counts as deleted. If the process ends before, DropUnfinished removes it.
	CreateSessionFrom(ctx context.Context, info SessionInfo, events iter.Seq2[agent.Event, error]) (SessionInfo, error)
	// DropUnfinished removes what is left of sessions whose logs were not stored
	// completely when their process ended. Sessions that another process is
	// storing are kept.
	DropUnfinished(context.Context) error
	// Sessions lists a folder's sessions, newest first.
	Sessions(ctx context.Context, folder string) ([]SessionInfo, error)
	// SessionPage lists some of a folder's sessions.
	SessionPage(context.Context, SessionQuery) (SessionPage, error)
	// Unsettled lists the sessions of a folder that were in the middle of a turn
	// when they were last written, or may do everything without asking.
	Unsettled(ctx context.Context, folder string) ([]SessionInfo, error)
	Session(ctx context.Context, id string) (SessionInfo, error)
	// Waiting counts the sessions of each folder that wait for the user,
	// together with those that they started.
	Waiting(ctx context.Context) (map[string]int, error)
	// Helpers lists the sessions that a session started, the oldest first.
	Helpers(ctx context.Context, parent string) ([]SessionInfo, error)
	// DeleteSessions removes sessions and everything that belongs to them, in
	// one transaction. It returns CodeNotFound if a session does not exist.
	DeleteSessions(ctx context.Context, ids ...string) error

	// Fork makes a new session whose log begins with a copy of another one's, which
	// may be growing meanwhile, and stores the events that follow, in one transaction.
	// Every event has the place that it has in the other log; damaged ones are left
	// out, so that they are missing here too. The ledger, the queue and what waits for
	// a person are not copied. It returns the place of the last event.
	Fork(context.Context, Copy) (seq int64, err error)

	// Append stores events of one session and their consequences in one
	// transaction, which is on disk when Append returns (K-36). It removes a
	// queued message when its delivery is stored. It returns the last event's
	// place in the log; the others come right before it.
	Append(context.Context, ...agent.Event) (seq int64, err error)
	// Events reads a session's log in order. Each run of damaged or missing
	// events is replaced by one [agent.Lost].
	Events(context.Context, EventRange) ([]agent.Event, error)
	// Costs sums the cost of the requests of a folder, or of one session if
	// session is not empty. Deleted sessions count.
	Costs(ctx context.Context, folder, session string) (CostSummary, error)
	// CallEnds reads the ends of calls, the newest first. A damaged one is
	// replaced by an [agent.Lost].
	CallEnds(context.Context, CallRange) ([]agent.Event, error)
	// CallEvents reads what a session's log says of the beginnings of calls and of
	// questions about them: the newest events before a place, the newest first.
	// Damaged ones are left out.
	CallEvents(ctx context.Context, session string, before int64, limit int) ([]agent.Event, error)
	// CostsBetween sums the cost of a folder's requests since one time and before
	// another, by session.
	CostsBetween(ctx context.Context, folder string, from, to int64) (map[string]llm.Spending, error)
	// Approvals lists the requests of a folder's sessions that nobody has
	// answered, the oldest first. A request that was damaged in the log is left
	// out.
	Approvals(ctx context.Context, folder string) ([]Approval, error)
	// PendingApproval finds a request that nobody has answered.
	PendingApproval(ctx context.Context, id string) (session string, err error)

	// Queue returns the messages that wait for delivery to a session, in order.
	Queue(ctx context.Context, session string) ([]agent.Queued, error)
	// AddQueued appends a message. The other methods change an existing
	// message; they do nothing if it was already delivered.
	AddQueued(ctx context.Context, session string, m agent.Queued) error
	EditQueued(ctx context.Context, m agent.Queued) error
	OrderQueued(ctx context.Context, order []agent.Queued) error
	RemoveQueued(ctx context.Context, id string) error

	Settings
	HookLog
	Checked
	Mover
	FileHistory
	board.Tables
	team.Tables

	// Lease makes this process the only one that runs the session, until
	// release is called or the process ends. It returns CodeBusy if another
	// process has the lease.
	Lease(session string) (release func(), err error)
}

// Copy is the beginning of a forked session.
type Copy struct {
	// From is the session that is copied, up to and including its event Through.
	From    string
	Through int64
	// Session is the new session as it is after the copied events.
	Session SessionInfo
	// Then follows the copied events.
	Then []agent.Event
}

// Approval is a request that waits for a person, in any session. It waits until
// it is answered or its turn is stopped, also while no process runs the session.
type Approval struct {
	// Session asks. If it is an agent, Title names the session that started it,
	// and Agent the agent itself.
	Session string `json:"session"`
	Title   string `json:"title"`
	Agent   string `json:"agent,omitempty"`
	// Since is when it was asked, in milliseconds since 1970.
	Since   int64                 `json:"since"`
	Request agent.ApprovalRequest `json:"request"`
}

// EventRange selects events of one session: those with After < seq < Before,
// where 0 leaves a side open. Limit 0 means all; otherwise it selects the
// newest events if Newest is set, else the oldest. The result is always in
// order.
type EventRange struct {
	Session       string
	After, Before int64
	Limit         int
	Newest        bool
}

// CallRange selects ends of calls of some sessions: those before a place, and not
// before a time. The zero place is after all of them.
type CallRange struct {
	Sessions []string
	Before   CallPlace
	Since    int64
	Limit    int
}

// CallPlace is the place of a call's end among those of all sessions.
type CallPlace struct {
	At      int64  `json:"at"`
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
}

// Settings keeps small values; most of them hold for every project.
type Settings interface {
	// Setting returns a stored value, empty if there is none. It returns
	// CodeStoreCorrupt if the value is damaged.
	Setting(ctx context.Context, key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
	// ChangeSetting replaces a value by what change makes of it, in one step beside all other
	// processes. change gets an empty text if there is no value. It must not use the store;
	// its error is returned as it is, and leaves the value.
	ChangeSetting(ctx context.Context, key string, change func(string) (string, error)) error
}

// KeyStore keeps provider keys outside the database. It is safe for concurrent
// use.
type KeyStore interface {
	// Key returns a stored key and where it is stored; empty if there is none.
	Key(provider string) (key string, source KeySource, err error)
	SetKey(provider, key string) error
	RemoveKey(provider string) error
	// Place says where new keys go: the keyring, or a file with this path.
	Place() (keyring bool, file string)
}

// KeySource is a place where a key was found.
type KeySource string

// The sources of a key, in order of precedence.
const (
	KeyFromEnvironment KeySource = "environment"
	KeyFromKeyring     KeySource = "keyring"
	KeyFromFile        KeySource = "file"
)
