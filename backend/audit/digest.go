package audit

import (
	"cmp"
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// Digest sums up what a session and its agents did without asking anybody.
type Digest struct {
	Session string `json:"session"`
	// Commands, Edits and Others count calls: command lines, changes to files, and
	// what a rule or a hook allowed besides.
	Commands int `json:"commands,omitempty"`
	Edits    int `json:"edits,omitempty"`
	Others   int `json:"others,omitempty"`
	// By counts them by what allowed them.
	By []AllowedBy `json:"by,omitempty"`
	// Outside are the first files outside the project that they touched; More
	// counts the others.
	Outside []string `json:"outside,omitempty"`
	More    int      `json:"more,omitempty"`
	// AtLeast says that there was more than is read for a digest.
	AtLeast bool `json:"at_least,omitempty"`
	// Cost is what the session and its agents spent in that time.
	Cost llm.Spending `json:"cost,omitzero"`
}

// AllowedBy says how often something allowed a call. Rule is the rule, if one did.
type AllowedBy struct {
	By    agent.Authoriser `json:"by"`
	Rule  *agent.RuleRef   `json:"rule,omitempty"`
	Calls int              `json:"calls"`
}

// Limits of what a digest names.
const (
	maxOutside = 3
	maxCounts  = 6
)

// Digests sums up what was done since one time and before another, session by
// session. familyOf returns the session on whose behalf another one works. A
// session that did nothing without asking is left out.
func (r Reader) Digests(ctx context.Context, since, until int64, familyOf func(session string) string) ([]Digest, error) {
	digests := map[string]*Digest{}
	f := LedgerFilter{Since: since, Until: until, Unasked: true}
	next, err := r.scan(ctx, f, backend.CallPlace{}, func(ev agent.Event) (bool, error) {
		end, ok := ev.Data.(agent.ToolCallEnd)
		if !ok || !f.takes(end) {
			return true, nil
		}
		row, err := r.row(ctx, ev, end)
		if err != nil {
			return false, err
		}
		family := familyOf(ev.Session)
		if digests[family] == nil {
			digests[family] = &Digest{Session: family}
		}
		digests[family].add(row, end)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	list := make([]Digest, 0, len(digests))
	for _, d := range digests {
		d.AtLeast = next != nil
		slices.SortStableFunc(d.By, func(a, b AllowedBy) int { return cmp.Compare(b.Calls, a.Calls) })
		d.By = d.By[:min(len(d.By), maxCounts)]
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b Digest) int { return cmp.Compare(a.Session, b.Session) })
	return list, nil
}

func (d *Digest) add(row LedgerRow, end agent.ToolCallEnd) {
	switch {
	case isCommand(end):
		d.Commands++
	case end.Details != nil && len(end.Details.Changes) > 0:
		d.Edits++
	default:
		d.Others++
	}
	a := row.Authority
	at := slices.IndexFunc(d.By, func(c AllowedBy) bool {
		return c.By == a.By && (c.Rule == nil) == (a.Rule == nil) && (c.Rule == nil || *c.Rule == *a.Rule)
	})
	if at < 0 {
		at = len(d.By)
		d.By = append(d.By, AllowedBy{By: a.By, Rule: a.Rule})
	}
	d.By[at].Calls++
	if row.Outlook == nil {
		return
	}
	for _, effect := range row.Outlook.Effects {
		if effect.ID != agent.EffectOutside && effect.ID != agent.EffectDeletesOutside {
			continue
		}
		d.More += effect.More
		for _, path := range effect.Args {
			switch {
			case slices.Contains(d.Outside, path):
			case len(d.Outside) == maxOutside:
				d.More++
			default:
				d.Outside = append(d.Outside, path)
			}
		}
	}
}
