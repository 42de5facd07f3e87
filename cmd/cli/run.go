package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
	"github.com/spf13/pflag"
)

const (
	// maxPrompt limits the input from standard input.
	maxPrompt = 16 << 20
	// maxBudget is a budget that nobody spends, and that still fits the unit of
	// costs.
	maxBudget = 1e6
)

// runFlags are the flags of atelier run.
type runFlags struct {
	use                 modelFlags
	folder              string
	form                formFlags
	resume              resumeFlags
	readOnly            bool
	trust               trustFlags
	servers             []string // files
	agents              string   // JSON
	limits              limitFlags
	allowed, disallowed []string
	naming              string
}

// formFlags say in which form the run speaks with who started it.
type formFlags struct{ input, output, schema string }

// trustFlags say what of the project is trusted as it stands there, for one run.
type trustFlags struct{ hooks, servers, skills, agents bool }

// resumeFlags say with which session a run goes on.
type resumeFlags struct {
	session      string
	newest, fork bool
	at           int64
}

// limitFlags say when a run stops.
type limitFlags struct {
	turns, retries int
	dollars        float64
}

// modelFlags choose model, effort and mode; empty leaves the session's own.
type modelFlags struct {
	model, fallback, effort, mode, baseURL string
	thinking                               int
}

func (c *command) runFlagSet(f *runFlags) *pflag.FlagSet {
	flags := c.flags("atelier run [flags] PROMPT|-")
	flags.StringVarP(&f.folder, "directory", "C", "", "project folder (default: the current one)")
	flags.StringVar(&f.use.model, "model", "", "PROVIDER/ID, such as openai/gpt-6.1-sol or demo/tour")
	flags.StringVar(&f.use.fallback, "fallback-model", "", "PROVIDER/ID to ask if the model does not answer after all retries")
	flags.IntVar(&f.limits.retries, "max-retries", llm.DefaultRetries.Retries, "how often a failed request is retried")
	flags.StringVar(&f.use.effort, "effort", "", "how hard the model thinks: none, minimal, low, medium, high, xhigh, max")
	flags.IntVar(&f.use.thinking, "max-thinking-tokens", 0, "thinking tokens, for models that take a number (0: by --effort)")
	flags.StringVar(&f.use.mode, "permission-mode", "", "default, plan, acceptEdits, auto, dontAsk or bypassPermissions; nobody can be asked, so calls that need an approval are denied, unless --input is stream-json")
	flags.StringVar(&f.form.output, "output", "text", "text; json: an object at the end; stream-json: every event as a line of JSON, and that object; messages: the same as messages of the Open Agent SDK")
	flags.StringVar(&f.form.input, "input", "text", "text; stream-json: messages, steering, answers and interrupts come as lines of JSON from the standard input, until that ends")
	flags.StringVar(&f.form.schema, "json-schema", "", "a JSON schema, or a file with one, that the answer must satisfy")
	flags.IntVar(&f.limits.turns, "max-turns", 0, "stop after this many rounds of tool calls (0: 200)")
	flags.Float64Var(&f.limits.dollars, "max-budget-usd", 0, "stop before the session has cost more than this many dollars (0: no limit)")
	flags.StringVar(&f.resume.session, "session", "", "continue the session with this id, or the only one that begins so")
	flags.BoolVar(&f.resume.newest, "continue", false, "continue the folder's newest session")
	flags.BoolVar(&f.resume.fork, "fork", false, "leave the session as it is, and continue a fork of it")
	flags.Int64Var(&f.resume.at, "at", 0, "go on at the event with this number (seq), before an input or after an answer; without --fork, what came later is rewound")
	flags.StringSliceVar(&f.allowed, "allowed-tools", nil, "tools that run without asking, or rules such as \"Bash(go test *)\"")
	flags.StringSliceVar(&f.disallowed, "disallowed-tools", nil, "tools that never run, or rules such as \"Read(secrets/**)\"")
	flags.BoolVar(&f.readOnly, "read-only", false, "change nothing: files are not written, and commands run only if the system can keep them from writing")
	flags.BoolVar(&f.trust.hooks, "trust-hooks", false, "trust the project's hooks as they stand there now, for this run")
	flags.BoolVar(&f.trust.servers, "trust-servers", false, "trust the project's MCP servers as they stand there now, for this run")
	flags.BoolVar(&f.trust.skills, "trust-skills", false, "trust the project's skills that run something as they stand there now, for this run")
	flags.BoolVar(&f.trust.agents, "trust-agents", false, "trust the project's agents with hooks of their own as they stand there now, for this run")
	flags.StringVar(&f.agents, "agents", "", "agents for this run as JSON, such as {\"reviewer\": {\"description\": \"…\", \"prompt\": \"…\"}}")
	flags.StringArrayVar(&f.servers, "mcp-config", nil, "a file with MCP servers for this run, in addition to the configured ones; it is trusted (can be given several times)")
	flags.StringVar(&f.naming, "naming", "", "native: each model sees the tools under the names that it knows; spec: all models see read_file, edit_file, shell, …")
	flags.StringVar(&f.use.baseURL, "base-url", "", "the provider's address")
	return flags
}

// run sends one prompt and prints its events.
func (c *command) run(args []string) int {
	var f runFlags
	flags := c.runFlagSet(&f)
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	r, err := c.newRun(&f, flags.Args())
	if err != nil {
		return c.misused(flags, err.Error())
	}
	if !modelRef(f.use.model) || !modelRef(f.use.fallback) {
		return c.misused(flags, "--model and --fallback-model need PROVIDER/ID")
	}
	if f.limits.dollars != 0 && !(f.limits.dollars > 0 && f.limits.dollars < maxBudget) {
		return c.misused(flags, "--max-budget-usd needs a positive number of dollars")
	}
	if _, err := profile.ParseNaming(f.naming); err != nil {
		return c.misused(flags, err.Error())
	}
	if f.resume.session != "" && f.resume.newest {
		return c.misused(flags, "--session and --continue exclude each other")
	}
	if (f.resume.fork || f.resume.at != 0) && !f.resume.isSet() {
		return c.misused(flags, "--fork and --at need --session or --continue")
	}
	end, err := c.runPrompt(r)
	return r.finish(end, err)
}

// isSet reports whether the run goes on with a session.
func (f *resumeFlags) isSet() bool { return f.session != "" || f.newest }

// modelRef reports whether s is empty or names a provider and a model.
func modelRef(s string) bool {
	_, _, err := catalogue.ParseRef(s)
	return s == "" || err == nil
}

// rules returns what the flags say of tools: whole tools by name, and rules about
// some of their calls.
func (f *runFlags) rules() (permission.Rules, []rule.Rule, error) {
	var whole permission.Rules
	var some []rule.Rule
	for _, list := range []struct {
		entries  []string
		names    *[]string
		decision agent.Decision
	}{{f.allowed, &whole.Allow, agent.Allow}, {f.disallowed, &whole.Deny, agent.Deny}} {
		for _, entry := range list.entries {
			r, err := rule.Parse(entry)
			if err != nil {
				return whole, nil, fmt.Errorf("read %q: %w", entry, err)
			}
			if r.Decision, r.Scope = list.decision, agent.ScopeSession; r.Selector == "" && !strings.Contains(r.Tool, "*") && !strings.HasPrefix(r.Tool, "mcp__") {
				*list.names = append(*list.names, r.Tool)
			} else {
				some = append(some, r)
			}
		}
	}
	return whole, some, nil
}

// definitions returns the agents of the run. One that cannot be used is an error, because nobody
// would notice otherwise.
func (f *runFlags) definitions() ([]agentdef.Definition, error) {
	if f.agents == "" {
		return nil, nil
	}
	given, err := agentdef.ParseJSON(f.agents)
	if err != nil {
		return nil, err
	}
	for _, d := range given {
		for _, x := range d.Findings {
			if x.Breaks {
				return nil, fmt.Errorf("an agent of --agents cannot be used: %s", x.Message)
			}
		}
	}
	return given, nil
}

// prompt joins the arguments, or reads standard input for "-".
func (c *command) prompt(args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(c.in, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("read the prompt: %w", err)
		}
		if len(b) > maxPrompt {
			return "", fmt.Errorf("the prompt is larger than %d MiB", maxPrompt>>20)
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("there is no prompt")
	}
	return text, nil
}

// runPrompt runs the turns of a run, and returns the end of the last one.
func (c *command) runPrompt(r *run) (output.End, error) {
	none, f := output.End{}, r.flags
	folder, home, err := c.places(f.folder)
	if err != nil {
		return none, err
	}
	defer c.logTo(home)()
	cfg := c.config(folder, home)
	cfg.Unattended, cfg.Answered, cfg.ReadOnly = true, r.driver != nil, f.readOnly
	cfg.Naming = profile.Naming(f.naming)
	if cfg.Rules, cfg.RunRules, err = f.rules(); err != nil {
		return none, err
	}
	if cfg.Agents, err = f.definitions(); err != nil {
		return none, err
	}
	cfg.Limits = agent.Limits{Rounds: f.limits.turns, Budget: llm.Cost(math.Round(f.limits.dollars * float64(llm.Dollar)))}
	cfg.Retry.Retries = f.limits.retries
	cfg.Getenv = withBaseURL(c.getenv, f)
	cfg.Observe = r.observer.Event
	vendor, _, _ := strings.Cut(f.use.model, "/")
	app, err := openForSessions(c.ctx, cfg, vendor)
	if err != nil {
		return none, err
	}
	end := none
	if err = c.settle(app, f, cfg.RunRules); err == nil {
		end, err = r.turns(app)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	return end, errors.Join(err, app.Close(ctx))
}

// settle trusts what the flags say, tells what was left out, and waits for servers.
func (c *command) settle(app *app, f *runFlags, rules []rule.Rule) error {
	err := app.IncludeServers(f.servers...)
	if err == nil {
		err = c.settleHooks(app, f.trust.hooks)
	}
	if err == nil {
		err = c.tellOfRules(app, rules)
	}
	if err == nil {
		err = c.settleServers(app, f.trust.servers)
	}
	if err == nil {
		err = c.settleSkills(app, f.trust.skills)
	}
	if err == nil && f.trust.agents {
		_, err = app.TrustAgents(c.ctx)
	}
	if err == nil {
		err = c.awaitServers(app)
	}
	return err
}

// session returns the id of the session to use, configured according to the
// flags.
func (c *command) session(app *app, f *runFlags, ended <-chan agent.ProcessingEnd) (string, error) {
	settings, err := app.NewSessionSettings(c.ctx)
	if err != nil {
		return "", err
	}
	info := backend.SessionInfo{}
	if f.resume.isSet() {
		if info, err = app.Resume(c.ctx, workbench.ResumeRequest{Session: f.resume.session, Fork: f.resume.fork, At: agent.ForkPlace{Event: f.resume.at}}); err != nil {
			return "", err
		}
		if err := c.tellDamage(app, info); err != nil {
			return "", err
		}
		if info.State == agent.StateProcessing { // it was cut off, and is now marked so
			<-ended
		}
		settings = info.Settings
	}
	if provider, model, ok := strings.Cut(f.use.model, "/"); ok {
		settings.Provider, settings.Model = provider, model
	}
	if provider, model, ok := strings.Cut(f.use.fallback, "/"); ok {
		settings.FallbackProvider, settings.FallbackModel = provider, model
	}
	if f.use.effort != "" {
		settings.Effort = llm.Effort(f.use.effort)
	}
	if f.use.thinking != 0 {
		settings.ThinkingTokens = f.use.thinking
	}
	if f.use.mode != "" {
		settings.Mode = agent.Mode(f.use.mode)
	}
	if info.ID == "" {
		info, err = app.CreateSession(c.ctx, settings)
	} else if settings != info.Settings || f.use.mode != "" { // a mode in the flags holds, whatever the log says
		err = app.Configure(c.ctx, info.ID, settings)
	}
	return info.ID, err
}

// tellDamage reports on standard error what of a session could not be read.
func (c *command) tellDamage(app *app, info backend.SessionInfo) error {
	lost, err := app.LostEvents(c.ctx, info)
	if err != nil {
		return err
	}
	if info.Damaged {
		fmt.Fprintln(c.err, "The entry of this session in the list was damaged. Atelier restored it from the session's log.")
	}
	switch lost {
	case 0:
		return nil
	case 1:
		fmt.Fprintln(c.err, "1 event of this session is damaged or missing on the disk.")
	default:
		fmt.Fprintf(c.err, "%d events of this session are damaged or missing on the disk.\n", lost)
	}
	fmt.Fprintln(c.err, "Everything else was kept, and the model is told that a part is missing. To get it back, restore a backup of Atelier's data.")
	return nil
}

// withBaseURL replaces the provider's variable by --base-url.
func withBaseURL(getenv func(string) string, f *runFlags) func(string) string {
	id, _, _ := strings.Cut(f.use.model, "/")
	variable := provider.BaseURLVariable(id)
	if f.use.baseURL == "" || variable == "" {
		return getenv
	}
	return func(name string) string {
		if name == variable {
			return f.use.baseURL
		}
		return getenv(name)
	}
}
