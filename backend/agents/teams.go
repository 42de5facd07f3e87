package agents

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/agent/team"
	"atelier.dev/atelier/backend"
)

// TeamStore is what Teams need of [backend.Store].
type TeamStore interface {
	board.Tables
	team.Tables
	Session(ctx context.Context, id string) (backend.SessionInfo, error)
	Helpers(ctx context.Context, parent string) ([]backend.SessionInfo, error)
}

// TeamsConfig is what Teams work with. All fields are required.
type TeamsConfig struct {
	Store TeamStore
	// ChangeQueue changes the queue of a session, in the store and in memory, while no
	// other change is made.
	ChangeQueue func(ctx context.Context, session string, change func(*agent.Queue) error) error
	// Wake starts a session at rest on what its queue holds, or returns an error if it
	// may not start now.
	Wake  func(ctx context.Context, session string) error
	NewID func() string
	// Check returns a session if the panel may show what is of it.
	Check func(ctx context.Context, id string) (backend.SessionInfo, error)
}

// Teams brings the messages of agents to their readers, and tells leaders that members are at
// rest. It is safe for concurrent use.
type Teams struct {
	cfg    TeamsConfig
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine that sends notices has ended
	signal chan struct{} // says that something rests; holds one

	mu     sync.Mutex
	rested map[string]int64 // where the log of a session ended when it came to rest
	woken  map[string][]time.Time
	// awaited are agents for whose report their parent waits: a notice would tell it the same
	// again, and cost a round.
	awaited map[string]bool
}

// NewTeams returns the teams of all sessions of a store. Close ends what it has begun.
func NewTeams(cfg TeamsConfig) *Teams {
	t := &Teams{cfg: cfg, done: make(chan struct{}), signal: make(chan struct{}, 1), rested: map[string]int64{}, woken: map[string][]time.Time{}, awaited: map[string]bool{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.notify()
	return t
}

// Close ends the notices, and waits for the one that is being sent.
func (t *Teams) Close() {
	t.cancel()
	<-t.done
}

// Name returns what an agent is called on boards and in teams: its name or, without one, its id;
// empty for a session of the user.
func Name(info backend.SessionInfo) string {
	if info.Helper == nil {
		return ""
	}
	return cmp.Or(info.Helper.Name, info.ID)
}

// Writer returns what the messages of a session are from.
func Writer(info backend.SessionInfo) string { return cmp.Or(Name(info), team.Self) }

// Root returns the session of the user to which a session belongs.
func Root(info backend.SessionInfo) string {
	if info.Helper != nil {
		return info.Helper.Parent
	}
	return info.ID
}

// Tools adds the tools of teams to those of a session. One that leads can make teams.
func (t *Teams) Tools(info backend.SessionInfo, leads bool, tools []agent.Tool) []agent.Tool {
	root := Root(info)
	return append(tools, team.Tools(team.Desk{
		Tables: t.cfg.Store, Session: root, Name: Name(info), NewID: t.cfg.NewID,
		Deliver: func(ctx context.Context, m team.Message) error { return t.deliver(ctx, root, m) },
	}, leads)...)
}

// Join puts an agent that is being started into a team, of which it may be a member already.
// An empty team is that of its name, if there is one.
func (t *Teams) Join(ctx context.Context, root, called, name string) error {
	if called == "" {
		return nil
	}
	if name == "" {
		return fmt.Errorf("an agent of a team needs a name, by which the others write to it")
	}
	return t.cfg.Store.ChangeTeams(ctx, root, func(r *team.Roster) error {
		found, err := r.Active(called)
		if err == nil && !found.Has(name) {
			_, err = r.AddMember(found.ID, team.Member{Name: name})
		}
		return err
	})
}

// Collect gives an agent that was just made the messages that wait for its name.
func (t *Teams) Collect(ctx context.Context, root, name, session string) error {
	if name == "" {
		return nil
	}
	_, err := t.cfg.Store.Collect(ctx, root, name, session)
	return err
}

// NameIsFree refuses a name that another agent of the user's session has (OAS-514). A closed
// agent has none.
func (t *Teams) NameIsFree(ctx context.Context, root, name string) error {
	if name == "" {
		return nil
	}
	if team.IsLeader(name) {
		return fmt.Errorf("the name %s is that of whoever leads", name)
	}
	info, err := t.reader(ctx, root, name)
	if err == nil && info.ID != "" && info.State != agent.StateClosed {
		err = fmt.Errorf("an agent of the name %s is there already: give it another task with resume, or close it first", name)
	}
	return err
}

// reader returns the newest agent of a name, or the session of the user itself. It has no id if
// there is none yet.
func (t *Teams) reader(ctx context.Context, root, name string) (found backend.SessionInfo, err error) {
	if team.IsLeader(name) {
		return t.cfg.Store.Session(ctx, root)
	}
	all, err := t.cfg.Store.Helpers(ctx, root)
	for _, info := range slices.Backward(all) {
		if Name(info) == name {
			return info, err
		}
	}
	return found, err
}

// deliver brings a message to its reader.
func (t *Teams) deliver(ctx context.Context, root string, m team.Message) error {
	reader, err := t.reader(ctx, root, m.To)
	if err != nil {
		return err
	}
	if reader.ID == "" || reader.Helper != nil && reader.State == agent.StateClosed {
		_, err := t.cfg.Store.AddMessage(ctx, root, "", m)
		return err
	}
	err = t.cfg.ChangeQueue(ctx, reader.ID, func(q *agent.Queue) error {
		added, err := t.cfg.Store.AddMessage(ctx, root, reader.ID, m)
		if added {
			q.Add(m.Queued())
		}
		return err
	})
	if err == nil {
		t.wake(ctx, root, reader.ID)
	}
	return err
}

// A message starts an agent that is at rest: at most so often in a time, for all agents of a
// session, so that two that thank each other do not go on for ever.
const (
	mostWoken = 60
	wokenTime = 10 * time.Minute
)

// wake starts an agent that is at rest because it was done. One that was stopped stays stopped,
// and a session of the user begins no turn by itself.
func (t *Teams) wake(ctx context.Context, root, session string) {
	info, err := t.cfg.Store.Session(ctx, session)
	if err != nil || info.Helper == nil || info.State != agent.StateIdle || info.LastEnd != agent.EndDone || !t.mayWake(root, time.Now()) {
		return
	}
	if err := t.cfg.Wake(ctx, session); err != nil {
		slog.Debug("an agent reads its messages later", "agent", session, "err", err)
	}
}

func (t *Teams) mayWake(root string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	lately := slices.DeleteFunc(t.woken[root], func(at time.Time) bool { return now.Sub(at) > wokenTime })
	ok := len(lately) < mostWoken
	if ok {
		lately = append(lately, now)
	}
	t.woken[root] = lately
	return ok
}

// Await notes that the parent of an agent waits for its report, so that no notice tells it the same.
func (t *Teams) Await(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.awaited[session] = true
}

// Rested notes that an agent came to rest at a place of its log. It does not wait.
func (t *Teams) Rested(session string, seq int64) {
	t.mu.Lock()
	t.rested[session] = seq
	t.mu.Unlock()
	select {
	case t.signal <- struct{}{}:
	default:
	}
}

// notify is the goroutine that sends notices.
func (t *Teams) notify() {
	defer close(t.done)
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-t.signal:
		}
		t.mu.Lock()
		rested, awaited := t.rested, t.awaited
		t.rested, t.awaited = map[string]int64{}, maps.Clone(awaited)
		for session := range rested {
			delete(t.awaited, session)
		}
		t.mu.Unlock()
		for session, seq := range rested {
			if err := t.tell(t.ctx, session, seq, awaited[session]); err != nil && t.ctx.Err() == nil {
				slog.Warn("could not say that an agent is at rest", "agent", session, "err", err)
			}
		}
	}
}

// tell tells the leader of an agent's team that it is at rest, once for each time. Now that it
// does not work, another one of the session may read what waits for it. If its parent waits for
// it, nothing is said.
func (t *Teams) tell(ctx context.Context, session string, seq int64, awaited bool) error {
	info, err := t.cfg.Store.Session(ctx, session)
	if err != nil || info.Helper == nil {
		return err
	}
	root, name := Root(info), Name(info)
	roster, err := t.cfg.Store.Teams(ctx, root)
	if err != nil {
		return err
	}
	if of, ok := roster.Of(name); ok && of.LeaderID != name && !awaited {
		err = t.deliver(ctx, root, team.Message{
			ID: "idle-" + session + "-" + strconv.FormatInt(seq, 10), Team: of.ID, From: name, To: of.LeaderID, Type: team.Idle,
			Text: fmt.Sprintf("%s is at rest: %s.", name, ended(info.LastEnd)), At: time.Now().UnixMilli(),
		})
	}
	if len(roster.Teams) > 0 {
		err = cmp.Or(err, t.wakeOthers(ctx, root))
	}
	return err
}

func ended(how agent.EndReason) string {
	switch how {
	case agent.EndDone:
		return "it is done with its task"
	case agent.EndFailed, agent.EndCrashed:
		return "its task failed"
	}
	return "its task was ended before it was done"
}

// wakeOthers starts agents at rest for which messages wait.
func (t *Teams) wakeOthers(ctx context.Context, root string) error {
	messages, err := t.cfg.Store.Messages(ctx, root, 10*team.MaxUnread)
	tried := map[string]bool{}
	for _, m := range messages {
		if m.State != team.Queued || tried[m.To] || team.IsLeader(m.To) {
			continue
		}
		tried[m.To] = true
		if info, err := t.reader(ctx, root, m.To); err == nil && info.ID != "" {
			t.wake(ctx, root, info.ID)
		}
	}
	return err
}
