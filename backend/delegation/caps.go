package delegation

import (
	"context"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
)

// maxDepth is the deepest tree that can be chosen.
const maxDepth = backend.MostAgentDepth

// Caps are the limits that a session of a person shares with all agents below it.
type Caps struct {
	// Depth is how many levels of agents there may be.
	Depth int `json:"depth"`
	// AtOnce is how many agents work at a time.
	AtOnce int `json:"at_once"`
	// Rounds and Tokens limit the requests for one input, and the tokens of all requests
	// together; 0 means unlimited.
	Rounds int   `json:"rounds,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
}

// CapsOf returns the limits that the user has chosen.
func CapsOf(p backend.Preferences) Caps {
	c := Caps{Depth: min(max(1, p.AgentDepth), maxDepth), AtOnce: AtOnce, Rounds: p.TreeRounds, Tokens: p.TreeTokens}
	if c.Rounds == 0 {
		c.Rounds = backend.DefaultTreeRounds
	}
	return c
}

// Tree is what a session and the agents below it have taken, and what they may take.
type Tree struct {
	Caps Caps `json:"caps"`
	// Rounds are those since the newest input of a person.
	Rounds int      `json:"rounds"`
	Tokens int64    `json:"tokens"`
	Spent  llm.Cost `json:"spent"`
	// Budget is that of the session; 0 means unlimited.
	Budget llm.Cost `json:"budget,omitempty"`
}

// Limit adds to the limits of a session what it shares with its tree.
func (d *Delegation) Limit(info backend.SessionInfo, limits agent.Limits) agent.Limits {
	root := agents.Root(info)
	t := d.treeOf(root)
	if info.Helper != nil {
		t.setStarter(info.ID, byOf(info))
	}
	limits.OthersCost = func() llm.Cost { return d.OthersCost(context.Background(), root, info.ID) }
	limits.Admit = func(spent, next, budget llm.Cost) (llm.Cost, *agent.TurnLimit) {
		return d.admit(t, root, info.ID, asked{spent, next, budget})
	}
	return limits
}

// asked is a request of a session that has spent something, with its estimated cost and the
// session's budget.
type asked struct{ spent, next, budget llm.Cost }

// admit reserves what a request may cost and returns it, or the limit of the tree that keeps it
// from being made. In a tree a request may cost a part of what is left, so that others can be
// made at the same time; without agents it may cost all.
func (d *Delegation) admit(t *tree, root, session string, ask asked) (most llm.Cost, over *agent.TurnLimit) {
	ctx := context.Background()
	caps := d.cfg.Caps(ctx)
	t.budget <- struct{}{}
	defer func() { <-t.budget }()
	usage, others := d.sum(ctx, root, session)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch tokens := usage.Input + usage.Output + usage.CacheRead + usage.CacheWrite; {
	case caps.Rounds > 0 && t.rounds >= caps.Rounds && len(t.started) > 0:
		return 0, &agent.TurnLimit{Limit: "tree_rounds", Count: t.rounds}
	case caps.Tokens > 0 && tokens >= caps.Tokens:
		return 0, &agent.TurnLimit{Limit: "tree_tokens", Count: int(tokens)}
	case ask.budget == 0:
		return 0, nil
	}
	for other, cost := range t.reserved {
		if other != session {
			others += cost
		}
	}
	spent := ask.spent + others
	if spent+ask.next > ask.budget {
		return 0, &agent.TurnLimit{Limit: "budget", Budget: ask.budget, Spent: spent, Next: ask.next}
	}
	most = ask.budget - spent
	if len(t.started) > 0 {
		most = max(ask.next, most/AtOnce)
	}
	t.reserved[session] = most
	return most, nil
}

// sum adds up what a tree has used, and the cost of all of it but one session.
func (d *Delegation) sum(ctx context.Context, root, but string) (used llm.Usage, others llm.Cost) {
	all, err := d.cfg.Store.Helpers(ctx, root)
	if err == nil {
		var info backend.SessionInfo
		info, err = d.cfg.Store.Session(ctx, root)
		all = append(all, info)
	}
	if err != nil {
		slog.Warn("could not add up the cost of agents", "session", root, "err", err)
	}
	for _, info := range all {
		used = used.Add(info.Usage)
		if info.ID != but {
			others += info.Cost.Cost
		}
	}
	return used, others
}

// OthersCost returns what a session and all agents below it have spent so far, except for the
// spending of one of them.
func (d *Delegation) OthersCost(ctx context.Context, root, but string) llm.Cost {
	_, others := d.sum(ctx, root, but)
	return others
}

// Tree returns what the tree of a session has taken.
func (d *Delegation) Tree(ctx context.Context, root backend.SessionInfo) Tree {
	used, spent := d.sum(ctx, root.ID, "")
	t := d.treeOf(root.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	return Tree{
		Caps: d.cfg.Caps(ctx), Rounds: t.rounds, Tokens: used.Input + used.Output + used.CacheRead + used.CacheWrite,
		Spent: spent, Budget: root.Settings.Budget,
	}
}

// byOf returns the session that started an agent.
func byOf(info backend.SessionInfo) string {
	if info.Helper.By != "" {
		return info.Helper.By
	}
	return info.Helper.Parent
}
