package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/cmd/cli/output"
	"atelier.dev/atelier/storage"
)

// Limits of what explain reads.
const (
	maxSettings  = 1 << 20 // bytes of a settings file
	maxQuestion  = 1 << 20 // bytes of a line
	maxQuestions = 1_000_000
	maxEffect    = 500 // characters of an effect on a line
)

// A question is a line of explain --batch. Without a policy the answer is that
// of the mode "default" in the present folder, with the rules that hold there.
type question struct {
	ID      json.RawMessage    `json:"id"`
	Command string             `json:"command"`
	Policy  *boundary.Settings `json:"policy"`
}

// explanation answers a question.
type explanation struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Verdict agent.Decision  `json:"verdict"`
	Reason  string          `json:"reason"`
}

// outlook is an explanation with what the command would do.
type outlook struct {
	explanation
	agent.Forecast
}

// explain says what would be allowed, asked about or denied, and why. It runs
// nothing.
func (c *command) explain(args []string) int {
	flags := c.flags("atelier explain [--settings FILE] COMMAND, or atelier explain --batch < QUESTIONS")
	flags.SetInterspersed(false) // what follows the command's first word is its own
	path := flags.String("settings", "", "a JSON file with deniedCommands, allowedCommands, deniedPaths, allowedReadPaths and allowedWritePaths, or with permissions, whose rules hold instead of those of your settings files")
	batch := flags.Bool("batch", false, `read questions {"id","command","policy"} as JSON lines, and answer each with {"id","verdict","reason"}`)
	asJSON := flags.Bool("json", false, "print one JSON object")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if *batch == (flags.NArg() > 0) {
		return c.misused(flags, "explain takes a command or --batch")
	}
	folder, home, err := c.places("")
	if err != nil {
		return c.fail(err)
	}
	settings, err := readSettings(*path)
	if err != nil {
		fmt.Fprintf(c.err, "The settings in %s cannot be used: %v\nWith them, every command would be denied.\n", *path, err)
		return exitFailed
	}
	rules, leave := c.rules(folder, home, settings)
	defer leave()
	judge, err := newJudge(folder, home, c.getenv("HOME"), rules)
	if err != nil {
		return c.fail(err)
	}
	if *batch {
		err = judge.batch(c, settings.lists)
	} else {
		err = judge.print(c.ctx, c.out, strings.Join(flags.Args(), " "), settings.lists, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(c.err, err)
		return exitFailed
	}
	return exitDone
}

// explained are the settings that a command is explained with.
type explained struct {
	lists *boundary.Settings // nil if there are none
	rules []rule.Rule
	own   bool // the rules hold instead of those of the user's files
}

// readSettings reads a settings file; without one the lists are nil. They stand in
// it or in its member "sandbox".
func readSettings(path string) (explained, error) {
	if path == "" {
		return explained{}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return explained{}, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxSettings+1))
	if err != nil {
		return explained{}, err
	}
	if len(b) > maxSettings {
		return explained{}, fmt.Errorf("it is longer than %d bytes", maxSettings)
	}
	var s struct {
		boundary.Settings
		Sandbox     *boundary.Settings `json:"sandbox"`
		Permissions json.RawMessage    `json:"permissions"`
	}
	if err := json.Unmarshal(settings.Unmarked(b), &s); err != nil {
		return explained{}, err
	}
	rules, err := guard.FileRules(b, agent.ScopeUser)
	if err != nil {
		return explained{}, err
	}
	lists := &s.Settings
	if s.Sandbox != nil {
		lists = s.Sandbox
	}
	if s.Permissions != nil && reflect.ValueOf(*lists).IsZero() {
		lists = nil // the rules say it
	}
	return explained{lists, rules, s.Permissions != nil}, nil
}

// rules returns the rules that hold: those of the settings files, as far as the
// user has accepted them, or those of the settings that were named.
func (c *command) rules(folder, home string, s explained) (source ruleSource, leave func()) {
	user := c.getenv("HOME")
	if !filepath.IsAbs(user) {
		user = ""
	}
	if s.own {
		c.tellUnmatched(entriesOf(s.rules))
		set := rule.New(rule.Place{Project: folder, Home: user}, s.rules)
		return ruleSource{func() *rule.Set { return set }, func(*agent.RuleRef) string { return "" }, s.lists}, func() {}
	}
	var kept backend.Settings = nothing{}
	leave = func() {}
	if _, err := os.Stat(filepath.Join(home, storage.File)); err == nil {
		if store, err := storage.Open(c.ctx, home); err == nil {
			kept, leave = store, func() { _ = store.Close() }
		} else {
			fmt.Fprintln(c.err, "What you accepted of the project's settings cannot be read, so its rules allow nothing here:", err)
		}
	}
	g := guard.New(guard.Config{Folder: folder, User: user, Store: kept})
	if reply, err := g.Rules(c.ctx, ""); err == nil {
		c.tellUnmatched(reply.Rules)
	}
	return ruleSource{
		set: func() *rule.Set { return g.Set(c.ctx, "") },
		where: func(ref *agent.RuleRef) string {
			reply, err := g.Rules(c.ctx, "")
			i := slices.IndexFunc(reply.Rules, func(e guard.RuleEntry) bool {
				return e.Rule == ref.Text && e.Decision == ref.Decision && e.Scope == ref.Scope
			})
			if err != nil || i < 0 {
				return ""
			}
			return fmt.Sprintf(" It stands in line %d of %s.", reply.Rules[i].Line, reply.Rules[i].File)
		},
	}, leave
}

// ruleSource has the rules that hold, and says where one stands.
type ruleSource struct {
	set   func() *rule.Set
	where func(*agent.RuleRef) string
	lists *boundary.Settings // that stand beside the rules; nil if there are none
}

// nothing is the store of a user who has accepted nothing yet.
type nothing struct{}

func (nothing) Setting(context.Context, string) (string, error)                           { return "", nil }
func (nothing) SetSetting(context.Context, string, string) error                          { return nil }
func (nothing) ChangeSetting(context.Context, string, func(string) (string, error)) error { return nil }

// judge answers questions about commands in one folder.
type judge struct {
	folder, user string
	bash         agent.Accessor
	gate         *permission.Policy
	rules        ruleSource
}

func newJudge(folder, home, user string, rules ruleSource) (*judge, error) {
	local, err := env.NewLocal(folder)
	if err != nil {
		return nil, err
	}
	gate, err := permission.New(folder, permission.Rules{Own: []string{home}, Set: rules.set})
	if err != nil {
		return nil, err
	}
	for _, t := range tool.Builtin(local, tool.Options{}) {
		if a, ok := t.(agent.Accessor); ok && t.Spec().Name == "Bash" {
			return &judge{folder, user, a, gate, rules}, nil
		}
	}
	return nil, errors.New("there is no tool for commands")
}

// verdict is that of the lists, or without lists that of the mode "default" with
// the rules. Of settings with both, the stricter counts.
func (j *judge) verdict(ctx context.Context, command string, s *boundary.Settings) explanation {
	if s == nil {
		return j.decide(ctx, command)
	}
	v := boundary.New(*s, j.folder, j.user).Command(command, j.folder)
	if v.Decision == agent.Allow && s == j.rules.lists {
		return j.decide(ctx, command)
	}
	if v.Decision == agent.Allow {
		v.Reason = "Every program and path of it is allowed."
	}
	answer := explanation{Verdict: v.Decision, Reason: v.Reason}
	if s == j.rules.lists && v.Decision == agent.Ask {
		if by := j.decide(ctx, command); by.Verdict == agent.Deny {
			return by
		}
	}
	return answer
}

// decide is the verdict of the mode "default" with the rules.
func (j *judge) decide(ctx context.Context, command string) explanation {
	call, err := j.call(ctx, command)
	if err != nil {
		return explanation{Verdict: agent.Deny, Reason: err.Error()}
	}
	v := j.gate.Decide(ctx, call)
	if v.Rule != nil {
		v.Reason += j.rules.where(v.Rule)
	}
	return explanation{Verdict: v.Decision, Reason: v.Reason}
}

// call is what the gate is asked about a command.
func (j *judge) call(ctx context.Context, command string) (agent.GateCall, error) {
	input, err := json.Marshal(tool.BashInput{Command: command})
	if err != nil {
		return agent.GateCall{}, err
	}
	return agent.GateCall{Tool: "Bash", Input: input, Access: j.bash.Access(ctx, input), Mode: agent.ModeDefault}, nil
}

// print answers one question, and says what the command would do.
func (j *judge) print(ctx context.Context, out io.Writer, command string, s *boundary.Settings, asJSON bool) error {
	call, err := j.call(ctx, command)
	if err != nil {
		return err
	}
	answer := outlook{j.verdict(ctx, command, s), j.gate.Foretell(ctx, call)}
	if asJSON {
		return output.WriteJSON(out, answer)
	}
	text := fmt.Sprintf("%s: %s\n", answer.Verdict, answer.Reason)
	for _, effect := range answer.Effects {
		if effect.ID == agent.EffectReads {
			continue // the reason says so if it matters
		}
		text += "  " + output.LineOf(effect.String(), maxEffect) + "\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

// batch answers the questions on the standard input. A line that is not a
// question is answered with "deny". settings hold for questions without a
// policy.
func (j *judge) batch(c *command, settings *boundary.Settings) error {
	in := bufio.NewReaderSize(c.in, maxQuestion)
	for n := 1; c.ctx.Err() == nil; n++ {
		line, err := in.ReadSlice('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if n > maxQuestions {
			return fmt.Errorf("only the first %d questions were answered", maxQuestions)
		}
		var answer explanation
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			answer = explanation{Verdict: agent.Deny, Reason: fmt.Sprintf("Line %d is longer than %d bytes.", n, maxQuestion)}
			err = skipLine(in)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			answer = j.answer(c.ctx, line, settings, n)
		}
		if failed := output.WriteJSON(c.out, answer); failed != nil {
			return failed
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return c.ctx.Err()
}

func (j *judge) answer(ctx context.Context, line []byte, settings *boundary.Settings, n int) explanation {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return explanation{Verdict: agent.Deny, Reason: fmt.Sprintf("Line %d is not a question: %v.", n, err)}
	}
	if q.Policy == nil {
		q.Policy = settings
	}
	answer := j.verdict(ctx, q.Command, q.Policy)
	answer.ID = q.ID
	return answer
}

// skipLine reads to the end of a line.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
