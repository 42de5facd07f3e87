package backend

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"atelier.dev/atelier/agent"
)

// PreferencesSetting is the key of the user's preferences in [Settings].
const PreferencesSetting = "preferences"

// Preferences are the user's choices for every project.
type Preferences struct {
	Theme    string `json:"theme,omitempty"`    // "light", "dark", empty = the system's
	Language string `json:"language,omitempty"` // "en", "zh-CN", empty = the system's
	// NewSession is what new sessions begin with.
	NewSession agent.Settings `json:"new_session"`
	Levels     Levels         `json:"levels,omitzero"`
	// PlainTitles names sessions by their first prompt alone, without asking a
	// model.
	PlainTitles bool `json:"plain_titles,omitempty"`
	// SuggestPrompts asks a model after each turn what the user may want to
	// write next, which costs a little each time.
	SuggestPrompts bool `json:"suggest_prompts,omitempty"`
	// LongCache keeps what Anthropic's models read in the cache for an hour, which
	// makes writing to it dearer.
	LongCache bool `json:"long_cache,omitempty"`
	// CommandTimeout ends commands in the foreground that name no time limit of
	// their own, in seconds up to [tool.MaxCommandTimeout]; 0 leaves each model its
	// default (K-01).
	CommandTimeout int `json:"command_timeout,omitempty"`
	// Compact says when long conversations are made short.
	Compact CompactWhen `json:"compact,omitempty"`
	// Layout holds the panes' widths and whether they are shown.
	Layout Layout `json:"layout"`
	// Damaged says that what was stored cannot be read, so that all of this are
	// the defaults.
	Damaged bool `json:"damaged,omitempty"`
}

// Layout is the window's arrangement, in CSS pixels; 0 = the default.
type Layout struct {
	SidebarWidth  int  `json:"sidebar_width,omitempty"`
	SidebarHidden bool `json:"sidebar_hidden,omitempty"`
	PanelWidth    int  `json:"panel_width,omitempty"`
}

// CompactWhen says when conversations are compacted without being asked (K-08).
type CompactWhen string

// The choices.
const (
	CompactInTime  CompactWhen = ""      // whichever of the next two comes first
	CompactAtShare CompactWhen = "share" // four fifths of the window
	CompactAtEnd   CompactWhen = "end"   // all but 10,000 tokens of it
	CompactNever   CompactWhen = "never"
)

// Levels are the user's models for jobs of a level, as PROVIDER/ID; empty
// leaves it to Atelier.
type Levels struct {
	Low  string `json:"low,omitempty"`
	Mid  string `json:"mid,omitempty"`
	High string `json:"high,omitempty"`
}

// StoredPreferences returns what the user chose. Where that is damaged it returns
// the defaults, which say so, until the user chooses again.
func StoredPreferences(ctx context.Context, store Settings) (Preferences, error) {
	stored, err := store.Setting(ctx, PreferencesSetting)
	var e *Error
	if errors.As(err, &e) && e.Code == CodeStoreCorrupt {
		slog.Warn("the stored preferences are damaged; the defaults hold", "err", err)
		return Preferences{Damaged: true}, nil
	}
	if err != nil || stored == "" {
		return Preferences{}, err
	}
	var p Preferences
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		slog.Warn("the stored preferences cannot be read; the defaults hold", "err", err)
		return Preferences{Damaged: true}, nil
	}
	if p.NewSession.Mode == agent.ModeBypass { // stored by an earlier version
		p.NewSession.Mode = agent.ModeDefault
	}
	return p, nil
}
