package backend

import (
	"context"

	"atelier.dev/atelier/agent"
)

// Store keeps sessions, approvals and settings. Its errors are *[Error] with a
// store code, or CodeNotFound. It is safe for concurrent use, also by several
// processes.
type Store interface {
	// CreateSession adds a session without events.
	CreateSession(context.Context, SessionInfo) error
	// Sessions lists a folder's sessions, newest first.
	Sessions(ctx context.Context, folder string) ([]SessionInfo, error)
	Session(ctx context.Context, id string) (SessionInfo, error)
	// Helpers lists the sessions that one started, oldest first.
	Helpers(ctx context.Context, parent string) ([]SessionInfo, error)
	// DeleteSessions removes sessions and all that belongs to them, in one
	// transaction. CodeNotFound where there is no such session.
	DeleteSessions(ctx context.Context, ids ...string) error

	// Append stores events of one session, with everything that follows from
	// them, in one transaction that has reached the disk when Append returns
	// (K-36). A queued message goes when its delivery is stored. It returns the last event's place in the log; the others come
	// right before it.
	Append(context.Context, ...agent.Event) (seq int64, err error)
	// Events reads a session's log in order. In the place of events that are
	// damaged or missing there is an [agent.Lost], for each run of them one.
	Events(context.Context, EventRange) ([]agent.Event, error)
	// Costs adds up what the requests of a folder cost, or of one session of
	// it where that is not empty. Deleted sessions count.
	Costs(ctx context.Context, folder, session string) (CostSummary, error)
	// PendingApproval finds a request that nobody has answered.
	PendingApproval(ctx context.Context, id string) (session string, err error)

	// Queue returns what waits to be delivered to a session, in order.
	Queue(ctx context.Context, session string) ([]agent.Queued, error)
	// AddQueued puts a message at its end. The others change one that is there;
	// for one that is not they do nothing: it was delivered.
	AddQueued(ctx context.Context, session string, m agent.Queued) error
	EditQueued(ctx context.Context, m agent.Queued) error
	OrderQueued(ctx context.Context, order []agent.Queued) error
	RemoveQueued(ctx context.Context, id string) error

	Settings

	// Lease makes this process the only one that runs the session, until
	// release is called or the process ends. CodeBusy where another holds it.
	Lease(session string) (release func(), err error)
}

// EventRange selects events of one session: those with After < seq < Before,
// where 0 leaves a side open. Limit 0 means all; else the newest ones where
// Newest is set, the oldest ones where not. The result is in order either way.
type EventRange struct {
	Session       string
	After, Before int64
	Limit         int
	Newest        bool
}

// Settings keeps small values that hold for every project.
type Settings interface {
	// Setting returns a stored value, empty where there is none. CodeStoreCorrupt
	// where it is damaged.
	Setting(ctx context.Context, key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
}

// KeyStore keeps provider keys outside the database. It is safe for concurrent
// use.
type KeyStore interface {
	// Key returns a stored key and where it lies; empty where there is none.
	Key(provider string) (key string, source KeySource, err error)
	SetKey(provider, key string) error
	RemoveKey(provider string) error
	// Place says where new keys go: the keyring, or a file with this path.
	Place() (keyring bool, file string)
}

// KeySource is a place where a key was found.
type KeySource string

// The places a key can come from, strongest first.
const (
	KeyFromEnvironment KeySource = "environment"
	KeyFromKeyring     KeySource = "keyring"
	KeyFromFile        KeySource = "file"
)
