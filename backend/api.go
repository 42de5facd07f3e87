package backend

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

//go:generate go test . -run TestTypeScript -update

// This file is the vocabulary between the application and its front ends.
// TypeScript types are generated from it; a nil slice is an absent field.

// ProjectInfo describes the folder that this process works on.
type ProjectInfo struct {
	Folder  string `json:"folder"`
	Name    string `json:"name"`
	Branch  string `json:"branch,omitempty"` // empty outside a git repository
	Version string `json:"version"`
	Home    string `json:"home"` // where Atelier keeps its data
}

// SessionInfo is a session as its list shows it.
type SessionInfo struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"` // empty until the first prompt
	Folder    string         `json:"folder"`
	State     agent.State    `json:"state"`
	Settings  agent.Settings `json:"settings"`
	CreatedAt int64          `json:"created_at"`
	UpdatedAt int64          `json:"updated_at"`
	// Seq is the last event's place in the log.
	Seq int64 `json:"seq"`
	// LastEnd is how the last turn ended; empty before the first.
	LastEnd agent.EndReason `json:"last_end,omitempty"`
	// Usage sums the session's requests; Context is what the last one held.
	Usage   llm.Usage `json:"usage"`
	Context int64     `json:"context"`
	// Cost sums what the requests cost.
	Cost llm.Spending `json:"cost,omitzero"`
	// Helper is set on a session that another one started.
	Helper *Helper `json:"helper,omitempty"`
	// Damaged says that the store had to read all of this from the log, because
	// what it keeps for lists was damaged.
	Damaged bool `json:"damaged,omitempty"`
}

// Helper says whose session it is, and its bounds.
type Helper struct {
	Parent string `json:"parent"`
	// Folder is where it works, inside the project.
	Folder string `json:"folder"`
	Rounds int    `json:"rounds"` // of tools, for each input
}

// Snapshot is what a page needs to show a session: the newest events and
// what is being streamed right now. Live envelopes continue from Seq.
type Snapshot struct {
	Session SessionInfo   `json:"session"`
	Events  []agent.Event `json:"events,omitempty"`
	// More says that there are older events than these.
	More bool `json:"more,omitempty"`
	// Draft is what has been streamed since the last durable event.
	Draft Draft `json:"draft"`
	// Queue is what waits to be delivered.
	Queue []agent.Queued `json:"queue,omitempty"`
}

// Draft is streamed content that no durable event holds yet.
type Draft struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Outputs holds the newest output of the calls and the user's commands that
	// run, by id.
	Outputs map[string]OutputTail `json:"outputs,omitempty"`
}

// OutputTail is the newest part of the output of a call or a command that runs.
// Offset is where it begins, in UTF-16 code units: what was printed before is not
// shown until that ends.
type OutputTail struct {
	Text   string `json:"text"`
	Offset int    `json:"offset"`
}

// Envelope carries live events of one session. Seq is the session's last
// durable event when the envelope left: a page that is behind it after
// applying Events re-reads from where it stands.
type Envelope struct {
	Session string        `json:"session"`
	Seq     int64         `json:"seq"`
	Events  []agent.Event `json:"events,omitempty"`
}

// ProviderInfo is a provider and the models it offers.
type ProviderInfo struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Ready bool   `json:"ready"` // has what it needs to be called
	// Problem says why a ready provider's models could not be listed.
	Problem string      `json:"problem,omitempty"`
	Models  []ModelInfo `json:"models,omitempty"`
	// Vendor marks those with an API of their own, which come first.
	Vendor bool `json:"vendor,omitempty"`
	// Local marks a server on this machine that nobody set up: it can be
	// called if it runs, is ready where it was found running, and is never
	// chosen unasked.
	Local bool `json:"local,omitempty"`
	// Default is the model that new sessions begin with; empty = the first.
	Default string `json:"default,omitempty"`
	// ListedAt is when the provider itself last named its models; 0 is never.
	ListedAt int64 `json:"listed_at,omitempty"`
}

// ModelInfo is a model as the picker shows it.
type ModelInfo struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// ContextWindow is how many tokens a conversation may have; 0 means unknown.
	ContextWindow int64        `json:"context_window,omitempty"`
	Efforts       []llm.Effort `json:"efforts,omitempty"`
	// Scripted marks a model that is a script and no model.
	Scripted bool `json:"scripted,omitempty"`
	// Price is what the model costs now; absent where that is unknown.
	Price *ModelPrice `json:"price,omitempty"`
	// Abilities are those that are known; absent says nothing.
	Abilities []Ability `json:"abilities,omitempty"`
	// Shutdown is the day, as YYYY-MM-DD, on which the vendor switches the
	// model off, and Replacement what it advises instead.
	Shutdown    string `json:"shutdown,omitempty"`
	Replacement string `json:"replacement,omitempty"`
	// Assumed is the id of the model of the same family that the window, the
	// efforts and the abilities were taken from, because nothing is known of this one.
	Assumed string `json:"assumed,omitempty"`
}

// ModelPrice is in US dollars per million tokens. What is absent is unknown.
type ModelPrice struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Ability is something a model can do.
type Ability string

// The abilities that a picker shows.
const (
	AbilityReasoning  Ability = "reasoning"
	AbilityImages     Ability = "images"
	AbilityPDF        Ability = "pdf"
	AbilityTools      Ability = "tools"
	AbilityStructured Ability = "structured_output"
)

// CostLine is what some requests held and cost. It says which ones by Provider
// and Model, by Session, or by Day.
type CostLine struct {
	Provider string       `json:"provider,omitempty"`
	Model    string       `json:"model,omitempty"`
	Session  string       `json:"session,omitempty"`
	Title    string       `json:"title,omitempty"` // empty for deleted sessions
	Day      string       `json:"day,omitempty"`   // YYYY-MM-DD, in local time
	Requests int          `json:"requests"`
	Usage    llm.Usage    `json:"usage"`
	Cost     llm.Spending `json:"cost"`
}

// CostSummary is what was spent, seen from three sides (OAS-114, OAS-712). Its
// models come dearest first, its sessions and days newest first.
type CostSummary struct {
	Total    CostLine   `json:"total"`
	Models   []CostLine `json:"models,omitempty"`
	Sessions []CostLine `json:"sessions,omitempty"`
	Days     []CostLine `json:"days,omitempty"`
}

// TaskInfo is a command that a session left running. Its id is unique among
// those of its session that this process knows, and begins anew where the
// session does.
type TaskInfo struct {
	Session   string    `json:"session"`
	ID        string    `json:"id"`
	Command   string    `json:"command"` // its beginning, where it is very long
	Folder    string    `json:"folder"`
	StartedAt int64     `json:"started_at"`
	EndedAt   int64     `json:"ended_at,omitempty"` // absent while it runs
	State     TaskState `json:"state"`
	// ExitCode is that of a task that exited.
	ExitCode int `json:"exit_code,omitempty"`
}

// TaskState is how a task is, or how it ended.
type TaskState string

// The states of a task. It exits by itself, and is stopped by a person, its
// model or its session's end.
const (
	TaskRunning  TaskState = "running"
	TaskExited   TaskState = "exited"
	TaskStopped  TaskState = "stopped"
	TaskTimedOut TaskState = "timed_out"
)

// TaskOutput is a piece of what a task printed. Begin and End are its places
// in all that was printed, in bytes: where Begin is not what was asked for,
// something between is not kept.
type TaskOutput struct {
	Text  string `json:"text"`
	Begin int64  `json:"begin"`
	End   int64  `json:"end"`
}

// KeyInfo says where a provider's key comes from, never what it is.
type KeyInfo struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	// Source is "environment", "keyring", "file", or empty where there is
	// no key.
	Source  KeySource `json:"source,omitempty"`
	BaseURL string    `json:"base_url,omitempty"`
	// Variable is the environment variable that would be read.
	Variable string `json:"variable"`
	// NeedsBaseURL marks providers that are only an address.
	NeedsBaseURL bool `json:"needs_base_url,omitempty"`
	// OwnBaseURL is where a provider is reached without BaseURL; empty for
	// those that everybody knows, and those that have no address of their own.
	OwnBaseURL string `json:"own_base_url,omitempty"`
	// Vendor marks those with an API of their own, which come first.
	Vendor bool `json:"vendor,omitempty"`
	// Local marks servers on this machine, which need no key.
	Local bool `json:"local,omitempty"`
}

// KeySource is a place where a key was found.
type KeySource string

// The places a key can come from, strongest first.
const (
	KeyFromEnvironment KeySource = "environment"
	KeyFromKeyring     KeySource = "keyring"
	KeyFromFile        KeySource = "file"
)

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

// The requests and replies of the methods, named after them. Empty stands for
// "nothing".
type (
	// Empty is a request or reply without content.
	Empty struct{}
	// SessionRef names a session.
	SessionRef struct {
		Session string `json:"session"`
	}
	// SessionList answers sessions.list, newest first.
	SessionList struct {
		Sessions []SessionInfo `json:"sessions,omitempty"`
	}
	// RenameRequest is for sessions.rename.
	RenameRequest struct {
		Session string `json:"session"`
		Title   string `json:"title"`
	}
	// OpenRequest is for conversation.open; Limit 0 means 200 events.
	OpenRequest struct {
		Session string `json:"session"`
		Limit   int    `json:"limit,omitempty"`
	}
	// HistoryRequest is for conversation.history: the events after After, or
	// the newest ones before Before; exactly one is set.
	HistoryRequest struct {
		Session string `json:"session"`
		After   int64  `json:"after,omitempty"`
		Before  int64  `json:"before,omitempty"`
		Limit   int    `json:"limit,omitempty"`
	}
	// HistoryReply is a page of the log in order.
	HistoryReply struct {
		Events []agent.Event `json:"events,omitempty"`
		More   bool          `json:"more,omitempty"`
	}
	// EventRef names an event, to read whole what was cut for display.
	EventRef struct {
		Session string `json:"session"`
		Seq     int64  `json:"seq"`
	}
	// EventReply is one whole event.
	EventReply struct {
		Event agent.Event `json:"event"`
	}
	// QueueAddRequest is for queue.add, the others for what they are named after.
	QueueAddRequest struct {
		Session string     `json:"session"`
		Verb    agent.Verb `json:"verb"`
		Text    string     `json:"text"`
	}
	QueueEditRequest struct {
		Session string       `json:"session"`
		Message agent.Queued `json:"message"`
	}
	QueueMoveRequest struct {
		Session string `json:"session"`
		ID      string `json:"id"`
		To      int    `json:"to"` // from 0
	}
	QueueRemoveRequest struct {
		Session string `json:"session"`
		ID      string `json:"id"`
	}
	// QueueReply answers all of them: what waits now.
	QueueReply struct {
		Queue []agent.Queued `json:"queue,omitempty"`
	}
	// SendRequest is for conversation.send.
	SendRequest struct {
		Session string `json:"session"`
		Text    string `json:"text"`
	}
	// CompactRequest is for conversation.compact.
	CompactRequest struct {
		Session string `json:"session"`
		// Focus is what the summary is to keep in particular; empty for nothing.
		Focus string `json:"focus,omitempty"`
	}
	// CommandRequest is for conversation.command.
	CommandRequest struct {
		Session string `json:"session"`
		Command string `json:"command"`
	}
	// AnswerRequest is for conversation.answer.
	AnswerRequest struct {
		Session  string       `json:"session"`
		Approval string       `json:"approval"`
		Answer   agent.Answer `json:"answer"`
	}
	// ConfigureRequest is for conversation.configure.
	ConfigureRequest struct {
		Session  string         `json:"session"`
		Settings agent.Settings `json:"settings"`
	}
	// ModelsRequest is for models.list. Refresh asks every provider that is set
	// up, however recently it was asked.
	ModelsRequest struct {
		Refresh bool `json:"refresh,omitempty"`
	}
	// ModelList answers models.list.
	ModelList struct {
		Providers []ProviderInfo `json:"providers,omitempty"`
		// Problem says why the user's own models file is not used.
		Problem string `json:"problem,omitempty"`
	}
	// TasksRequest is for tasks.list; without a session it is about all that this
	// process works on.
	TasksRequest struct {
		Session string `json:"session,omitempty"`
	}
	// TaskList answers tasks.list, the oldest of each session first.
	TaskList struct {
		Tasks []TaskInfo `json:"tasks,omitempty"`
	}
	// TaskRef names a task.
	TaskRef struct {
		Session string `json:"session"`
		Task    string `json:"task"`
	}
	// TaskOutputRequest is for tasks.output: what was printed from a place on,
	// in bytes.
	TaskOutputRequest struct {
		Session string `json:"session"`
		Task    string `json:"task"`
		From    int64  `json:"from,omitempty"`
	}
	// CostsRequest is for costs.summary; without a session it is about all
	// sessions of the project.
	CostsRequest struct {
		Session string `json:"session,omitempty"`
	}
	// ModelRef names a model; for models.test the model may be empty.
	ModelRef struct {
		Provider string `json:"provider"`
		Model    string `json:"model,omitempty"`
	}
	// ConnectionTest answers models.test. Reachable says that the provider
	// answered and took the key; Problem says what else is wrong, or why not,
	// and Next what to do about it.
	ConnectionTest struct {
		Reachable  bool   `json:"reachable"`
		DurationMs int64  `json:"duration_ms"`
		Models     int    `json:"models,omitempty"` // how many it lists
		Problem    string `json:"problem,omitempty"`
		Next       string `json:"next,omitempty"`
	}
	// KeyList answers keys.list.
	KeyList struct {
		Keys []KeyInfo `json:"keys,omitempty"`
		// Keyring says that new keys go to the system's keyring; else they go
		// to File.
		Keyring bool   `json:"keyring,omitempty"`
		File    string `json:"file,omitempty"`
	}
	// SetKeyRequest is for keys.set. An empty Key keeps the stored one.
	SetKeyRequest struct {
		Provider string `json:"provider"`
		Key      string `json:"key,omitempty"`
		BaseURL  string `json:"base_url,omitempty"`
	}
	// EndpointList answers the methods about endpoints.
	EndpointList struct {
		Endpoints []Endpoint `json:"endpoints,omitempty"`
	}
	// SetEndpointRequest is for endpoints.set. Without an ID it adds one. An empty
	// Key, and an empty value of a header, keep what is stored.
	SetEndpointRequest struct {
		ID      string           `json:"id,omitempty"`
		Name    string           `json:"name"`
		BaseURL string           `json:"base_url"`
		Key     string           `json:"key,omitempty"`
		NoKey   bool             `json:"no_key,omitempty"` // removes the stored one
		Headers []EndpointHeader `json:"headers,omitempty"`
		Body    string           `json:"body,omitempty"` // a JSON object
	}
	EndpointHeader struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	}
	// ProviderRef names a provider.
	ProviderRef struct {
		Provider string `json:"provider"`
	}
	// LinkRequest is for host.open_link; only http and https are opened.
	LinkRequest struct {
		URL string `json:"url"`
	}
)
