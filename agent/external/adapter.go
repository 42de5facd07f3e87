package external

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// DefaultModel is the model that an agent chooses itself.
const DefaultModel = "default"

// The limits of an agent.
const (
	startPatience  = 2 * time.Minute  // until it has begun a session: npx may download it first
	cancelPatience = 10 * time.Second // until a cancelled prompt ends; then the program is ended
	maxProcesses   = 8                // at once, of one agent
)

// Agent is how an external agent is started.
type Agent struct {
	ID   string // of the provider
	Name string
	Argv []string
	// Env names the variables that it is given although they may hold secrets.
	Env []string
}

// Config is what an [Adapter] needs.
type Config struct {
	Agent
	// Folder returns the folder in which a session works, absolute.
	Folder func(ctx context.Context, session string) (string, error)
	// Environ returns this program's environment; nil means the usual one.
	Environ func() []string
	Version string
}

// Adapter implements [llm.Adapter]: one process of the agent answers each session.
type Adapter struct {
	cfg   Config
	tools func() (*agent.Registry, error)
	// tellsCost says that the agent says what its sessions cost.
	tellsCost atomic.Bool

	mu            sync.Mutex // guards what follows
	conversations map[string]*conversation
	models        []llm.ListedModel
	closed        bool
}

// New returns an adapter. Close ends its processes.
func New(cfg Config) *Adapter {
	a := &Adapter{cfg: cfg, conversations: map[string]*conversation{}}
	a.tools = sync.OnceValues(func() (*agent.Registry, error) { return agent.NewRegistry(a.consent(), a.step()) })
	return a
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return a.cfg.ID }

// Tools returns the tools that only sessions of the agent have.
func (a *Adapter) Tools() *agent.Registry {
	r, err := a.tools()
	if err != nil {
		panic(fmt.Sprintf("external: %v", err)) // the two tools are constants
	}
	return r
}

// TellsCost reports whether the agent says what its sessions cost. An answer without a charge
// then costs nothing.
func (a *Adapter) TellsCost() bool { return a.tellsCost.Load() }

// Models lists the models that the agent offered when it last began a session. It starts nothing.
func (a *Adapter) Models(context.Context) ([]llm.ListedModel, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]llm.ListedModel{{ID: DefaultModel, Name: a.cfg.Name}}, a.models...), nil
}

// Check starts the agent in a folder, begins a session and ends it. It returns what the agent
// says of itself.
func (a *Adapter) Check(ctx context.Context, folder string) (AgentReport, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	c := newConversation(a, "")
	defer c.end()
	if err := c.start(ctx, folder); err != nil {
		return AgentReport{}, err
	}
	r := AgentReport{Name: a.cfg.Name, Models: len(a.learned())}
	if info := c.run.info; info != nil {
		r.Name, r.Version = info.Name, info.Version
		if info.Title != nil && *info.Title != "" {
			r.Name = *info.Title
		}
	}
	return r, nil
}

// AgentReport is what an agent says of itself.
type AgentReport struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Models  int    `json:"models,omitempty"`
}

func (a *Adapter) learned() []llm.ListedModel {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.models
}

func (a *Adapter) learn(models []llm.ListedModel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(models) > 0 {
		a.models = models
	}
}

// End ends the agent's process for a session.
func (a *Adapter) End(session string) {
	a.mu.Lock()
	c := a.conversations[session]
	delete(a.conversations, session)
	a.mu.Unlock()
	if c != nil {
		c.end()
	}
}

// Close ends all processes.
func (a *Adapter) Close() {
	a.mu.Lock()
	all := a.conversations
	a.conversations, a.closed = map[string]*conversation{}, true
	a.mu.Unlock()
	var ends sync.WaitGroup
	for _, c := range all {
		ends.Go(c.end)
	}
	ends.Wait()
}

// errClosed refuses a request after Close.
var errClosed = errors.New("the agent is no longer in the settings")

// conversation returns what a session has to do with the agent, and ends the one that was
// unused for longest if there are too many.
func (a *Adapter) conversation(session string) (*conversation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errClosed
	}
	c := a.conversations[session]
	if c == nil {
		if len(a.conversations) >= maxProcesses {
			var idle *conversation
			for _, other := range a.conversations {
				if !other.busy() && (idle == nil || other.lastUsed().Before(idle.lastUsed())) {
					idle = other
				}
			}
			if idle == nil {
				return nil, fmt.Errorf("%s answers %d sessions already; wait for one of them", a.cfg.Name, maxProcesses)
			}
			delete(a.conversations, idle.key)
			go idle.end() // ends with its process
		}
		c = newConversation(a, session)
		a.conversations[session] = c
	}
	return c, nil
}

// Stream implements [llm.Adapter]. It answers only a session, whose id is the request's cache
// key: a question beside a session has no agent of its own.
func (a *Adapter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		b := &answer{origin: llm.Origin{Provider: a.cfg.ID, API: "acp", Model: req.Model}, yield: yield}
		if err := a.reply(ctx, req, b); err != nil {
			b.fail(a.failure(ctx, err))
		}
	}
}

func (a *Adapter) reply(ctx context.Context, req llm.Request, b *answer) error {
	if req.CacheKey == "" || len(req.Tools) == 0 {
		return errBeside
	}
	c, err := a.conversation(req.CacheKey)
	if err != nil {
		return err
	}
	c.answering.Lock() // its holder leaves when its own request ends
	defer c.answering.Unlock()
	if err := c.deliver(ctx, req); err != nil {
		return err
	}
	return c.follow(ctx, b)
}

// errBeside refuses a request that is not a session's own.
var errBeside = errors.New("an external agent answers only its session; choose a small model for names, summaries and questions beside it")

// failure explains an error. Nothing is asked again by itself, because a prompt that began may
// have had effects.
func (a *Adapter) failure(ctx context.Context, err error) *llm.Error {
	e := &llm.Error{Class: llm.ClassServer, Provider: a.cfg.ID, Message: err.Error(), Cause: err}
	var refused *acp.RequestError
	switch {
	case ctx.Err() != nil:
		e.Class, e.Message, e.Cause = llm.ClassAbort, "the request was stopped", ctx.Err()
	case errors.Is(err, errBeside):
		e.Class = llm.ClassUnsupported
	case errors.As(err, &refused):
		e.Message = refused.Message
		if refused.Data != nil {
			e.Message = strings.TrimSpace(fmt.Sprintf("%s: %v", refused.Message, refused.Data))
		}
	case errors.Is(err, errStart), errors.Is(err, errLogin):
		e.Class = llm.ClassConfig
	}
	return e
}

// modelsOf returns the models among an agent's options, and the option that chooses one.
func modelsOf(options []acp.SessionConfigOption, state *acp.SessionModelState) (models []llm.ListedModel, option string) {
	for _, o := range options {
		if o.Select == nil || o.Select.Category == nil || *o.Select.Category != acp.SessionConfigOptionCategoryModel {
			continue
		}
		var all []acp.SessionConfigSelectOption
		if list := o.Select.Options.Ungrouped; list != nil {
			all = *list
		}
		if groups := o.Select.Options.Grouped; groups != nil {
			for _, g := range *groups {
				all = append(all, g.Options...)
			}
		}
		for _, one := range all {
			models = append(models, llm.ListedModel{ID: string(one.Value), Name: one.Name})
		}
		option = string(o.Select.Id)
		break
	}
	if option == "" && state != nil {
		for _, m := range state.AvailableModels {
			models = append(models, llm.ListedModel{ID: string(m.ModelId), Name: m.Name})
		}
	}
	models = slices.DeleteFunc(models, func(m llm.ListedModel) bool {
		return m.ID == "" || m.ID == DefaultModel || len(m.ID) > maxName || len(m.Name) > maxName
	})
	return models[:min(len(models), maxModels)], option
}

const (
	maxModels = 200
	maxName   = 200 // bytes of what an agent calls something
)
