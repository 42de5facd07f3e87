package subagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/llm"
)

const (
	// MaxWorking is how many agents of a [Crew] work at once (K-05, COM-62).
	MaxWorking = 4
	// maxMembers limits the agents of a crew, at rest or not.
	maxMembers = 200
)

// Kind is an agent that a [Crew] can start (COM-60).
type Kind struct {
	Name, Description string
	SystemPrompt      string
	// Tools are canonical names; nil means all of the crew's.
	Tools []string
	Model string // empty means the parent's
}

// Crew runs the agents of one session in the program that made it, each as a session of its
// own (OAS-501, OAS-503). It is a [Host] for [Tools].
//
// An agent has its parent's configuration: model, gate, approver, hooks, budget. Its mode is
// the parent's or tighter. It has the crew's tools, and starts no agents itself. It works in
// its parent's folder. A call that waits for an agent ends it if the call is interrupted;
// [Crew.Close] ends all.
type Crew struct {
	// Parent is the configuration of the parent. Its Profiles are not used.
	Parent agent.Config
	Tools  []agent.Tool
	Kinds  []Kind
	// Latest returns the parent's settings; nil means those of Parent.
	Latest func() agent.Settings
	// CanUseTool is the parent's; nil if it has none.
	CanUseTool agent.CanUseTool
	// Skill returns the text of a skill; nil if there are none.
	Skill func(ctx context.Context, name string) (string, error)
	// Spent returns what the parent spent of the budget that its agents share; nil means
	// nothing. [Crew.Cost] is what the agents spent.
	Spent func() llm.Cost
	// Watch is given the events of all agents, each agent's in order, also while they work
	// beside each other; nil watches nothing.
	Watch func(id string, ev agent.Event)

	members members
}

// members are the agents of a crew, which any goroutine may reach.
type members struct {
	sync.Mutex
	all     []*member
	working int
	freed   chan struct{} // closed when a place becomes free
	closed  bool
	turns   sync.WaitGroup
}

// member is an agent of a crew.
type member struct {
	id, name string
	session  *agent.Session
	// What follows is guarded by the lock of members.
	works  bool
	stop   context.CancelCauseFunc // ends its turn
	rest   chan struct{}           // closed once its turn has ended
	report Report
	cost   llm.Cost
}

// role is what an agent is told if its kind says nothing.
const role = "You work on one task for another agent. Nobody can answer a question: decide what is open. Your last message is your report."

var (
	errCrewClosed = errors.New("no agent can be started any more")
	errNoPlace    = fmt.Errorf("%d agents work already: wait for one of them, or close one", MaxWorking)
)

// Agents lists the kinds, one a line, as [Tools] take them.
func (c *Crew) Agents() string {
	var b strings.Builder
	for _, k := range c.Kinds {
		fmt.Fprintf(&b, "- %s: %s\n", k.Name, k.Description)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Spawn implements [Host].
func (c *Crew) Spawn(ctx context.Context, task Task) (Started, error) {
	if task.WorkingDir != "" {
		return Started{}, errors.New("agents work in your folder here: leave the folder out")
	}
	kind, err := c.kind(task.Type)
	if err != nil {
		return Started{}, err
	}
	m, err := c.start(ctx, task.Waits, Enhancement{
		Base: Base{
			Prompt: task.Text, Model: cmp.Or(task.Model, kind.Model), SystemPrompt: kind.SystemPrompt, AllowedTools: kind.Tools, MaxTurns: task.MaxTurns,
		},
		Skills: task.Skills, MCPServers: task.Servers, Isolation: task.Isolation, Name: task.Name, Team: task.Team, Mode: task.Mode,
	})
	if err != nil {
		return Started{}, err
	}
	return Started{ID: m.id}, nil
}

func (c *Crew) kind(name string) (Kind, error) {
	i := slices.IndexFunc(c.Kinds, func(k Kind) bool { return strings.EqualFold(k.Name, name) })
	switch {
	case i >= 0:
		return c.Kinds[i], nil
	case name == "" || name == "general-purpose":
		return Kind{}, nil
	}
	return Kind{}, fmt.Errorf("there is no agent %q", name)
}

// start makes an agent and has it begin. A call that waits for it waits for a place as well.
func (c *Crew) start(ctx context.Context, waits bool, in Enhancement) (*member, error) {
	switch {
	case in.Isolation != "":
		return nil, errors.New("there are no worktrees for agents here: leave the isolation out")
	case in.Team != "":
		return nil, errors.New("there are no teams here: leave the team out")
	}
	prompt, err := c.withSkills(ctx, in)
	if err != nil {
		return nil, err
	}
	for {
		m, freed, err := c.add(in, prompt)
		if !waits || !errors.Is(err, errNoPlace) {
			return m, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *Crew) withSkills(ctx context.Context, in Enhancement) (string, error) {
	prompt := in.Prompt
	for _, name := range in.Skills {
		if c.Skill == nil {
			return "", fmt.Errorf("there is no skill %q", name)
		}
		text, err := c.Skill(ctx, name)
		if err != nil {
			return "", fmt.Errorf("read the skill %q: %w", name, err)
		}
		prompt += "\n\n" + text
	}
	return prompt, nil
}

// add makes an agent and has it begin. The error is errNoPlace until freed is closed.
func (c *Crew) add(in Enhancement, prompt string) (m *member, freed <-chan struct{}, err error) {
	c.members.Lock()
	defer c.members.Unlock()
	if c.members.freed == nil {
		c.members.freed = make(chan struct{})
	}
	m, err = c.make(in)
	if err == nil {
		err = c.begin(m, prompt)
	}
	if err != nil {
		return nil, c.members.freed, err
	}
	c.members.all = append(c.members.all, m)
	return m, nil, nil
}

// make makes an agent, which does not work yet. The lock is held.
func (c *Crew) make(in Enhancement) (*member, error) {
	switch {
	case len(c.members.all) >= maxMembers:
		return nil, fmt.Errorf("there are %d agents already: go on with one of them", maxMembers)
	case in.Name != "" && c.find(in.Name) != nil:
		return nil, fmt.Errorf("an agent is called %q already", in.Name)
	}
	m := &member{id: "agent-" + strconv.Itoa(len(c.members.all)+1), name: in.Name}
	cfg, err := c.config(m, in)
	if err != nil {
		return nil, err
	}
	if m.session, err = agent.New(cfg); err != nil {
		return nil, fmt.Errorf("start an agent: %w", err)
	}
	m.session.SetCanUseTool(c.CanUseTool)
	return m, nil
}

// config returns the configuration of an agent.
func (c *Crew) config(m *member, in Enhancement) (agent.Config, error) {
	var tools []agent.Tool
	for _, t := range c.Tools {
		if in.allows(t.Spec().Name) {
			tools = append(tools, t)
		}
	}
	registry, err := agent.NewRegistry(tools...)
	if err != nil {
		return agent.Config{}, fmt.Errorf("give an agent its tools: %w", err)
	}
	cfg := c.Parent
	if c.Latest != nil {
		cfg.Settings = c.Latest()
	}
	cfg.ID, cfg.News, cfg.CleanUp = m.id, nil, nil // these are the parent's
	cfg.Profiles = agent.Plain(cmp.Or(in.SystemPrompt, role), registry)
	cfg.Settings.Model = cmp.Or(in.Model, cfg.Settings.Model)
	cfg.Settings.Mode = agentdef.Tighter(cmp.Or(cfg.Settings.Mode, agent.ModeDefault), in.Mode)
	limits := cfg.Limits
	limits.Rounds = cmp.Or(in.MaxTurns, DefaultMaxTurns)
	limits.Continuations = cmp.Or(limits.Continuations, agent.DefaultLimits.Continuations)
	limits.LoopWindow = cmp.Or(limits.LoopWindow, agent.DefaultLimits.LoopWindow)
	others := limits.OthersCost
	limits.OthersCost = func() llm.Cost {
		sum := c.costBeside(m)
		for _, more := range []func() llm.Cost{others, c.Spent} {
			if more != nil {
				sum += more()
			}
		}
		return sum
	}
	cfg.Limits = limits
	return cfg, nil
}

// allows reports whether an agent may have a tool. The tools of a server that is named are
// allowed beside others.
func (in *Enhancement) allows(tool string) bool {
	server, _, isServers := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	named := isServers && strings.HasPrefix(tool, "mcp__") && slices.Contains(in.MCPServers, server)
	return !slices.Contains(in.DisallowedTools, tool) && (in.AllowedTools == nil || named || slices.Contains(in.AllowedTools, tool))
}

// Cost returns what all agents spent.
func (c *Crew) Cost() llm.Cost { return c.costBeside(nil) }

func (c *Crew) costBeside(one *member) (sum llm.Cost) {
	c.members.Lock()
	defer c.members.Unlock()
	for _, m := range c.members.all {
		if m != one {
			sum += m.cost
		}
	}
	return sum
}

// find returns the agent of an id or a name; nil if there is none. The lock is held.
func (c *Crew) find(name string) *member {
	for _, m := range c.members.all {
		if m.id == name || m.name == name && name != "" {
			return m
		}
	}
	return nil
}

// begin has an agent at rest work on a prompt, if there is a place. The lock is held.
func (c *Crew) begin(m *member, prompt string) error {
	switch {
	case c.members.closed:
		return errCrewClosed
	case c.members.working >= MaxWorking:
		return errNoPlace
	}
	ctx, stop := context.WithCancelCause(context.Background()) // it may outlive the call
	m.works, m.stop, m.rest = true, stop, make(chan struct{})
	c.members.working++
	c.members.turns.Go(func() { c.work(ctx, m, prompt) })
	return nil
}

// work runs a turn of an agent, and what it was sent meanwhile.
func (c *Crew) work(ctx context.Context, m *member, prompt string) {
	r := agent.NewQueryResult()
	var failed error
	take := func(ev agent.Event, err error) {
		if err != nil {
			failed = err
			return
		}
		r.Apply(ev)
		c.members.Lock()
		m.cost = m.session.Transcript().Cost.Cost
		c.members.Unlock()
		if c.Watch != nil {
			c.Watch(m.id, ev)
		}
	}
	for ev, err := range m.session.Run(ctx, prompt) {
		take(ev, err)
	}
	for !c.ended(ctx, m, r, failed) {
		for ev, err := range m.session.RunQueued(ctx) {
			take(ev, err)
		}
	}
}

// ended reports that an agent is at rest, unless it was sent something at last.
func (c *Crew) ended(ctx context.Context, m *member, r agent.QueryResult, failed error) bool {
	c.members.Lock()
	defer c.members.Unlock()
	failed = cmp.Or(failed, r.Err())
	if failed == nil && ctx.Err() == nil && len(m.session.Queue().Items()) > 0 {
		return false
	}
	m.report = Report{Output: r.Text, Status: Completed, Turns: r.Rounds}
	if failed != nil {
		m.report.Status = Failed
		m.report.Output = strings.TrimSpace(m.report.Output + "\n" + failed.Error())
	}
	m.works = false
	m.stop(nil)
	close(m.rest)
	c.members.working--
	close(c.members.freed)
	c.members.freed = make(chan struct{})
	return true
}

func errNoAgent(name string) error { return fmt.Errorf("there is no agent %q", name) }

// Send implements [Host].
func (c *Crew) Send(_ context.Context, name, message string) (id string, err error) {
	c.members.Lock()
	defer c.members.Unlock()
	m := c.find(name)
	if m == nil {
		return "", errNoAgent(name)
	}
	if m.works {
		m.session.Steer(message)
		return m.id, nil
	}
	return m.id, c.begin(m, message)
}

// Wait implements [Host].
func (c *Crew) Wait(ctx context.Context, name string) (Report, error) {
	c.members.Lock()
	m := c.find(name)
	if m == nil {
		c.members.Unlock()
		return Report{}, errNoAgent(name)
	}
	rest := m.rest
	c.members.Unlock()
	select {
	case <-rest:
	case <-ctx.Done():
		return Report{}, context.Cause(ctx)
	}
	c.members.Lock()
	defer c.members.Unlock()
	return m.report, nil
}

// End implements [Host].
func (c *Crew) End(ctx context.Context, name string) (Report, error) {
	c.members.Lock()
	m := c.find(name)
	if m == nil {
		c.members.Unlock()
		return Report{}, errNoAgent(name)
	}
	m.stop(agent.ErrInterrupted)
	c.members.Unlock()
	return c.Wait(ctx, name)
}

// Close ends all agents, and returns when none works any more. None starts afterwards.
func (c *Crew) Close() {
	c.members.Lock()
	c.members.closed = true
	for _, m := range c.members.all {
		m.stop(agent.ErrInterrupted)
	}
	c.members.Unlock()
	c.members.turns.Wait()
}

// Spawner returns the crew in the form of [Enhanced].
func (c *Crew) Spawner() Enhanced { return spawner{c} }

type spawner struct{ crew *Crew }

// Spawn implements [Spawner].
func (s spawner) Spawn(ctx context.Context, in Base) (Report, error) {
	return s.SpawnEnhanced(ctx, Enhancement{Base: in})
}

// SpawnEnhanced implements [Enhanced].
func (s spawner) SpawnEnhanced(ctx context.Context, in Enhancement) (Report, error) {
	id, err := in.Resume, error(nil)
	if id != "" {
		id, err = s.crew.Send(ctx, id, in.Prompt)
	} else {
		var m *member
		if m, err = s.crew.start(ctx, !in.Background, in); err == nil {
			id = m.id
		}
	}
	switch {
	case err != nil:
		return Report{}, err
	case in.Background:
		return Report{Status: Running}, nil
	}
	r, err := s.crew.Wait(ctx, id)
	if err != nil {
		return s.crew.End(context.WithoutCancel(ctx), id)
	}
	return r, nil
}
