package backend

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// PreferencesSetting is the key of the user's preferences in [Settings].
const PreferencesSetting = "preferences"

// Preferences are the user's choices for every project.
type Preferences struct {
	Theme string `json:"theme,omitempty"` // "light", "dark", empty = the system's
	// HighContrast makes text and lines stand out more, in either theme.
	HighContrast bool   `json:"high_contrast,omitempty"`
	Language     string `json:"language,omitempty"` // "en", "zh-CN", empty = the system's
	// NewSession has the initial settings of new sessions.
	NewSession agent.Settings `json:"new_session"`
	Levels     Levels         `json:"levels,omitzero"`
	// PlainTitles names sessions by their first prompt, without asking a model.
	PlainTitles bool `json:"plain_titles,omitempty"`
	// SuggestPrompts asks a model after each turn for the user's likely next
	// message, which costs a little each time.
	SuggestPrompts bool `json:"suggest_prompts,omitempty"`
	// LongCache keeps the input of Anthropic's models in the cache for an hour,
	// which makes writing to it more expensive.
	LongCache bool `json:"long_cache,omitempty"`
	// Patience is how many minutes a model's server may be silent; 0 means two,
	// five at high effort, and thirty for a server on this machine.
	Patience int `json:"patience,omitempty"`
	// CommandTimeout is the default time limit of foreground commands, in
	// seconds up to [tool.MaxCommandTimeout]; 0 leaves each model its own
	// default (K-01).
	CommandTimeout int `json:"command_timeout,omitempty"`
	// CutResults cuts long results of tools, and asks no model to shorten them.
	CutResults bool `json:"cut_results,omitempty"`
	// Compact says when long conversations are compacted.
	Compact CompactWhen `json:"compact,omitempty"`
	// Editor is the command that opens a file, such as "code -g {file}:{line}";
	// empty means the user's graphical editor, as far as one is found.
	Editor string `json:"editor,omitempty"`
	Fonts  Fonts  `json:"fonts,omitzero"`
	// Zoom is the scale of the window's page, in percent; 0 means 100. A browser
	// has a scale of its own.
	Zoom int `json:"zoom,omitempty"`
	// Notices says what is announced while the window is not in front.
	Notices Notices `json:"notices,omitzero"`
	Sandbox Sandbox `json:"sandbox,omitzero"`
	// NoLanguageServers keeps language servers from starting: questions about code are
	// answered by searching.
	NoLanguageServers bool `json:"no_language_servers,omitempty"`
	// LanguagesOff are the languages whose servers do not start.
	LanguagesOff []string `json:"languages_off,omitempty"`
	// ToolsOff are the tools that sessions do not have, by their canonical names.
	ToolsOff []string `json:"tools_off,omitempty"`
	// AgentDepth, TreeRounds and TreeTokens limit a session together with its agents: how many
	// levels of them there are, the requests for one input, and the tokens of all. 0 means 1,
	// [DefaultTreeRounds] and unlimited.
	AgentDepth int   `json:"agent_depth,omitempty"`
	TreeRounds int   `json:"tree_rounds,omitempty"`
	TreeTokens int64 `json:"tree_tokens,omitempty"`
	// Guide says whether the first steps of a new user are shown: "on", "over", or
	// empty, which leaves it to what the user has done so far.
	Guide string `json:"guide,omitempty"`
	// Layout has the widths of the panes and which of them are shown.
	Layout Layout `json:"layout"`
	// Damaged says that the stored preferences cannot be read, so that these
	// are the defaults.
	Damaged bool `json:"damaged,omitempty"`
}

// The bounds of the limits of a session together with its agents.
const (
	MostAgentDepth    = 3
	DefaultTreeRounds = 500
	MostTreeRounds    = 10_000
)

// CheckAgents refuses limits of agents that are out of bounds.
func (p *Preferences) CheckAgents() error {
	if p.AgentDepth < 0 || p.AgentDepth > MostAgentDepth || p.TreeRounds < 0 || p.TreeRounds > MostTreeRounds || p.TreeTokens < 0 {
		return Problem(ProblemAgentCaps, strconv.Itoa(MostAgentDepth), strconv.Itoa(MostTreeRounds))
	}
	return nil
}

// LanguageOff reports whether the servers of a language do not start.
func (p *Preferences) LanguageOff(language string) bool {
	return p.NoLanguageServers || slices.Contains(p.LanguagesOff, language)
}

// CheckLanguages refuses a list of languages that is not one.
func (p *Preferences) CheckLanguages() error {
	const most, longest = 50, 100
	if len(p.LanguagesOff) > most || slices.ContainsFunc(p.LanguagesOff, func(name string) bool { return len(name) > longest }) {
		return Problem(ProblemArguments, "preferences.change")
	}
	return nil
}

// MaxPatience is the largest [Preferences.Patience].
const MaxPatience = 240

// Fonts are the fonts of the page.
type Fonts struct {
	Interface Font `json:"interface,omitzero"`
	Code      Font `json:"code,omitzero"`
}

// Font is a font of the page. Its zero value is the one that comes with Atelier.
type Font struct {
	// Family is [SystemFont] or the name of an installed font; empty means the
	// font that comes with Atelier.
	Family string `json:"family,omitempty"`
	// Size is in CSS pixels; 0 means the default.
	Size int `json:"size,omitempty"`
}

// SystemFont is the family that the system uses.
const SystemFont = "system"

// The bounds of sizes, within which the page's layout holds.
const (
	LeastInterfaceSize, MostInterfaceSize = 11, 18
	LeastCodeSize, MostCodeSize           = 10, 20
)

// maxFontName is far above the length of any name, in runes.
const maxFontName = 100

// Check refuses sizes out of bounds, and names that are not plain: the page
// writes them into its style.
func (f Fonts) Check() error {
	for _, each := range []struct {
		font        Font
		least, most int
	}{{f.Interface, LeastInterfaceSize, MostInterfaceSize}, {f.Code, LeastCodeSize, MostCodeSize}} {
		if each.font.Size != 0 && (each.font.Size < each.least || each.font.Size > each.most) {
			return Problem(ProblemFontSize, strconv.Itoa(each.least), strconv.Itoa(each.most))
		}
		if !isFontName(each.font.Family) {
			return Problem(ProblemFontName)
		}
	}
	return nil
}

// isFontName reports whether a name has letters, digits, single spaces and the few
// signs that names of fonts have, none of which ends a string of CSS.
func isFontName(name string) bool {
	if name == "" {
		return true
	}
	for _, r := range name {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune(" -_.+&", r) {
			return false
		}
	}
	return utf8.RuneCountInString(name) <= maxFontName && strings.Join(strings.Fields(name), " ") == name
}

// Notices are the user's choices about announcements outside the page. Without
// any, everything is announced.
type Notices struct {
	Off         bool `json:"off,omitempty"`
	MuteWaiting bool `json:"mute_waiting,omitempty"` // that a session needs the user
	MuteDone    bool `json:"mute_done,omitempty"`
	MuteFailed  bool `json:"mute_failed,omitempty"`
}

// Sandbox is the user's choice about how commands are confined. Settings files
// may narrow it, and turn it on.
type Sandbox struct {
	On bool `json:"on,omitempty"`
	// Free lets confined commands run without asking. Inside refuses all that ask
	// to run unconfined.
	Free   bool `json:"free,omitempty"`
	Inside bool `json:"inside,omitempty"`
}

// Layout is the arrangement of the window, in CSS pixels; 0 means the default.
type Layout struct {
	SidebarWidth  int  `json:"sidebar_width,omitempty"`
	SidebarHidden bool `json:"sidebar_hidden,omitempty"`
	PanelWidth    int  `json:"panel_width,omitempty"`
	// Panel is the name of the panel that was open last; empty means the first.
	Panel string `json:"panel,omitempty"`
	// PanelShown says whether it is open; nil means that the user never opened or
	// closed one.
	PanelShown *bool `json:"panel_shown,omitempty"`
	// RailNames shows the names of the panels beside their icons.
	RailNames bool `json:"rail_names,omitempty"`
	// Rail has the names of panels in the order of their icons, separated by spaces; one
	// after a hyphen is hidden. Panels that it lacks stand behind their usual neighbours.
	Rail string `json:"rail,omitempty"`
	// The layout of diffs: in two columns where there is room, with long lines
	// that scroll, without changes of spaces alone.
	DiffSplit       bool `json:"diff_split,omitempty"`
	DiffScrolls     bool `json:"diff_scrolls,omitempty"`
	DiffHidesSpaces bool `json:"diff_hides_spaces,omitempty"`
	// Density says how much of a conversation is drawn: "verbose", "summary" or
	// empty, which folds finished turns and groups calls.
	Density string `json:"density,omitempty"`
}

// CompactWhen says when conversations are compacted automatically (K-08).
type CompactWhen string

// The choices.
const (
	CompactInTime  CompactWhen = ""      // whichever of the next two comes first
	CompactAtShare CompactWhen = "share" // four fifths of the window
	CompactAtEnd   CompactWhen = "end"   // the window less 10,000 tokens
	CompactNever   CompactWhen = "never"
)

// Levels are the user's models for the levels, as PROVIDER/ID; an empty one
// leaves the choice to Atelier.
type Levels struct {
	Low  string `json:"low,omitempty"`
	Mid  string `json:"mid,omitempty"`
	High string `json:"high,omitempty"`
}

// StoredPreferences returns the user's preferences. If they are damaged, it
// returns the defaults with Damaged set, until the user chooses again.
func StoredPreferences(ctx context.Context, store Settings) (Preferences, error) {
	stored, err := store.Setting(ctx, PreferencesSetting)
	var e *Error
	if errors.As(err, &e) && e.Code == CodeStoreCorrupt {
		slog.Warn("the stored preferences are damaged; using the defaults", "err", err)
		return Preferences{Damaged: true}, nil
	}
	if err != nil || stored == "" {
		return Preferences{}, err
	}
	var p Preferences
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		slog.Warn("could not read the stored preferences; using the defaults", "err", err)
		return Preferences{Damaged: true}, nil
	}
	if p.NewSession.Mode == agent.ModeBypass { // stored by an earlier version
		p.NewSession.Mode = agent.ModeDefault
	}
	return p, nil
}
