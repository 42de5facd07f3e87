package contexts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/backend"
)

// RulesPreset names the rules that shorten a conversation before a model summarises it.
type RulesPreset string

// The presets.
const (
	RulesResults RulesPreset = ""        // old results of tools are shortened
	RulesRecent  RulesPreset = "recent"  // the newest five of each type stay, as in Comate's SDK
	RulesSummary RulesPreset = "summary" // nothing: the summary makes room
)

// presets have the rules of each.
var presets = map[RulesPreset]func() contextir.Rules{
	RulesResults: contextir.DefaultRules,
	RulesRecent:  contextir.SeedRules,
	RulesSummary: func() contextir.Rules { return contextir.Rules{} },
}

// RoomSettings are the user's choices about how long conversations are shortened. The zero
// value means the defaults.
type RoomSettings struct {
	Preset RulesPreset `json:"preset,omitempty"`
	// Rules are the user's own, instead of the preset's for their types.
	Rules map[contextir.ItemType]contextir.Rule `json:"rules,omitempty"`
	// OwnSummary has the session's own model write summaries, not the small one.
	OwnSummary bool `json:"own_summary,omitempty"`
	// OffloadFrom is the size in tokens from which a shortened result is also kept as a file
	// that the model can read; 0 means 2,000, and [NoOffload] never.
	OffloadFrom int `json:"offload_from,omitempty"`
	// Budget is how many tokens a context may have, if that is less than the model's window;
	// 0 means the window.
	Budget int64 `json:"budget,omitempty"`
}

// NoOffload keeps results from becoming files.
const NoOffload = -1

const (
	maxOffload    = 1_000_000 // tokens
	leastBudget   = 8_000
	maxLimit      = 10_000_000
	bytesPerToken = 4
)

// roomSetting is the key of [RoomSettings].
const roomSetting = "context"

// maxKeep limits how many of the newest items a rule keeps.
const maxKeep = 1000

// check returns an error that names an invalid choice.
func (r RoomSettings) check() error {
	if presets[r.Preset] == nil {
		return fmt.Errorf("there are no rules %q", r.Preset)
	}
	if r.OffloadFrom < NoOffload || r.OffloadFrom > maxOffload {
		return fmt.Errorf("%d is no size in tokens from which results become files", r.OffloadFrom)
	}
	if r.Budget != 0 && (r.Budget < leastBudget || r.Budget > maxLimit) {
		return fmt.Errorf("a context of %d tokens is too small or too large", r.Budget)
	}
	for t, rule := range r.Rules {
		switch {
		case !t.Compacts():
			return fmt.Errorf("items of the type %q are never compacted", t)
		case !rule.Strategy.Known():
			return fmt.Errorf("there is no strategy %q", rule.Strategy)
		case rule.Limit < 0 || rule.Limit > maxLimit:
			return fmt.Errorf("items of the type %q cannot be limited to %d tokens", t, rule.Limit)
		case rule.Keep < 0 || rule.Keep > maxKeep:
			return fmt.Errorf("%d of the newest items cannot be kept, only 0 to %d", rule.Keep, maxKeep)
		}
	}
	return nil
}

// rules returns those that hold.
func (r RoomSettings) rules() contextir.Rules {
	rules := presets[r.Preset]()
	maps.Copy(rules, r.Rules)
	return rules
}

// over returns a policy with the user's choices.
func (r RoomSettings) over(p compaction.Policy) compaction.Policy {
	p.Rules, p.Budget = r.rules(), r.Budget
	return p
}

// storedRoom returns the user's choices, and the defaults if none that can be read are stored.
func storedRoom(ctx context.Context, settings backend.Settings) (r RoomSettings, err error) {
	text, err := settings.Setting(ctx, roomSetting)
	if err != nil || text == "" {
		return RoomSettings{}, err
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return RoomSettings{}, fmt.Errorf("read how room is made: %w", err)
	}
	if err := r.check(); err != nil {
		return RoomSettings{}, fmt.Errorf("read how room is made: %w", err)
	}
	return r, nil
}

// Room returns the user's choices. The page calls it.
func (c *Contexts) Room(ctx context.Context, _ backend.Empty) (RoomSettings, error) {
	r, err := storedRoom(ctx, c.cfg.Settings)
	if err != nil {
		return r, backend.AsError(err)
	}
	return r, nil
}

// SetRoom stores the user's choices, which hold from the next compaction on. What has no
// meaning is refused.
func (c *Contexts) SetRoom(ctx context.Context, r RoomSettings) (RoomSettings, error) {
	if err := r.check(); err != nil {
		return r, backend.Problem(backend.ProblemArguments, "context.setRoom").Because(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("keep how room is made: %w", err)
	}
	return r, c.cfg.Settings.SetSetting(ctx, roomSetting, string(b))
}
