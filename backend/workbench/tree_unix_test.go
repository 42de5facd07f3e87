//go:build unix

package workbench_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/workbench"
)

// deep lets agents start agents.
func deep(p *page, change func(*backend.Preferences)) {
	p.t.Helper()
	prefer(p, func(prefs *backend.Preferences) {
		prefs.AgentDepth = 2
		if change != nil {
			change(prefs)
		}
	})
}

// tree returns the agents below a session.
func tree(p *page, root string) []backend.SessionInfo {
	p.t.Helper()
	all, err := p.store.Helpers(p.t.Context(), root)
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// LOOP-148: agents may start agents as deep as the user chose. Four of them that wait for
// their own agents do not keep those from working. Who started whom is kept, and a question of the
// lowest is asked in the place of the session at the top.
func TestAgentsOfAgents(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		deep(p, nil)
		var calls []llmtest.Call
		for i := range 4 {
			lead, leaf := fmt.Sprint("lead", i), fmt.Sprint("leaf", i)
			calls = append(calls, w.starts("", "Lead.", args{"model": lead}))
			server.Script(lead, llmtest.Round{Calls: []llmtest.Call{w.starts("", "Look.", args{"model": leaf})}}, llmtest.Round{Text: "Led."})
			server.Script(leaf, llmtest.Round{Text: "Seen by " + leaf + "."})
		}
		server.Script("leaf0", llmtest.Round{}) // is never asked for
		server.Script(w.model, llmtest.Round{Calls: calls}, llmtest.Round{Text: "All done."})
		id := w.inMode(p, agent.ModeDefault)
		p.send(id, "go")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
		all := tree(p, id)
		leads := map[string]bool{}
		for _, info := range all {
			if info.Helper.By == "" {
				leads[info.ID] = true
			}
		}
		if len(all) != 8 || len(leads) != 4 {
			t.Fatalf("%d agents, %d of them leads", len(all), len(leads))
		}
		for _, info := range all {
			if h := info.Helper; h.Parent != id || !leads[info.ID] && (!leads[h.By] || h.Depth != 2) {
				t.Errorf("%+v", h)
			}
		}
		if body := asked(server, "lead0")[1]; !strings.Contains(body, "Seen by leaf0.") || !strings.Contains(body, w.agent) {
			t.Errorf("a lead was sent %s", body)
		}
		if body := asked(server, "leaf0")[0]; strings.Contains(body, `"`+w.agent+`"`) {
			t.Errorf("an agent of an agent can start more: %s", body)
		}
	})
}

// stops is how often TestTreeIsStopped stops a tree of each format.
var stops = flag.Int("stops", 3, "how often a tree of agents is stopped")

// A tree of three agents with two each is stopped: a second later the server has no request of any
// of them, no more come, and a restart revives none. K-05.
func TestTreeIsStopped(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		deep(p, nil)
		for round := range *stops {
			var calls []llmtest.Call
			for i := range 3 {
				lead := fmt.Sprint("lead", i)
				calls = append(calls, w.starts("", "Lead.", args{"model": lead}))
				server.Script(lead, llmtest.Round{Calls: []llmtest.Call{
					w.starts("", "Look.", args{"model": fmt.Sprint("leaf", i)}), w.starts("", "Look.", args{"model": fmt.Sprint("leaf", 3+i)}),
				}})
				server.Script(fmt.Sprint("leaf", i))   // which does not answer
				server.Script(fmt.Sprint("leaf", 3+i)) // neither
			}
			leaves := func() (n int) {
				for i := range 6 {
					n += len(asked(server, fmt.Sprint("leaf", i)))
				}
				return n
			}
			before := leaves()
			id := w.inMode(p, agent.ModeDefault)
			server.Script(w.model, llmtest.Round{Calls: calls})
			p.send(id, "go")
			for all := server.AllRequests(); leaves() < before+4; all = server.AllRequests() {
				server.AwaitRequests(t, len(all)+1)
			}
			begun := time.Now()
			must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
			server.AwaitIdle(t)
			if took := time.Since(begun); took > time.Second {
				t.Errorf("round %d: requests were under way for %s after the stop", round, took)
			}
			for range 1 + 3 + 4 { // the session, its agents, and theirs that had begun
				await(p, func(e agent.ProcessingEnd) bool { return e.Reason == agent.EndInterrupted })
			}
			if n := leaves() - before; n != 4 {
				t.Errorf("round %d: %d agents of agents worked instead of 4", round, n)
			}
		}
		before := len(server.Requests())
		folder, home := p.folder, p.home
		p.close()
		again := newPage(t, folder, home, everyProvider(server))
		if err := again.bench.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, info := range must[backend.SessionPage](again, "sessions.list", backend.Empty{}).Sessions {
			if info.State == agent.StateProcessing || info.State == agent.StateAwaitingInput {
				t.Errorf("%+v works again", info)
			}
		}
		if n := len(server.Requests()); n != before {
			t.Errorf("%d requests after the restart", n-before)
		}
	})
}

// The budget of a tree is held to the cent, also by agents that ask at the same time: what a
// request will cost is put aside before it is made.
func TestTreeBudget(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	const child = "gpt-6.2-sol"
	w := wires[0]
	var calls []llmtest.Call
	for i := range 4 {
		dir := fmt.Sprint("d", i)
		if err := os.Mkdir(filepath.Join(p.folder, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, w.starts("", "Look.", args{"model": child, "working_dir": dir}))
	}
	server.Script(child)
	server.Script(w.model, llmtest.Round{Calls: calls, Usage: llm.Usage{Input: 1, Known: true}})
	id := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	set := agent.Settings{Provider: w.provider, Model: w.model, Mode: agent.ModeDefault, Budget: 7 * llm.Dollar / 100}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	await(p, func(s agent.SettingsChange) bool { return s.Settings == set })
	p.send(id, "go")
	limited := 0
	deadline := time.After(patience)
	for ; limited+len(asked(server, child)) < 4; limited = 0 {
		p.more(deadline, "four agents that ask or are refused")
		for _, info := range tree(p, id) {
			for _, limit := range log[agent.TurnLimit](p, info.ID) {
				if limit.Limit != "budget" || limit.Spent+limit.Next <= set.Budget {
					t.Fatalf("%+v", limit)
				}
				limited++
			}
		}
		if limited+len(asked(server, child)) >= 4 {
			break
		}
	}
	if limited == 0 || limited == 4 {
		t.Errorf("%d of 4 agents were refused", limited)
	}
	longest := int64(math.MaxInt64) // the answers are as long as the requests allow
	for _, request := range asked(server, child) {
		cap := regexp.MustCompile(`"max_output_tokens":(\d+)`).FindStringSubmatch(request)
		if cap == nil {
			t.Fatalf("an answer may have any length: %s", request)
		}
		n, _ := strconv.ParseInt(cap[1], 10, 64)
		longest = min(longest, n)
	}
	for range 4 - limited {
		server.Script(child, llmtest.Round{Text: "Seen.", Usage: llm.Usage{Input: 5000, Output: longest, Known: true}})
	}
	server.Script(w.model, llmtest.Round{Text: "Done.", Usage: llm.Usage{Input: 5000, Output: 100, Known: true}})
	for len(log[agent.ProcessingEnd](p, id)) == 0 {
		p.more(deadline, "the end of the turn")
	}
	spent := must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: id}).Cost.Cost
	for _, info := range tree(p, id) {
		spent += info.Cost.Cost
	}
	if spent > set.Budget || spent == 0 {
		t.Errorf("%s of %s were spent", spent, set.Budget)
	}
}

// The rounds and the tokens of a session are limited together with those of its agents.
func TestTreeLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caps  func(*backend.Preferences)
		limit string
		count int
	}{
		"rounds": {func(p *backend.Preferences) { p.TreeRounds = 3 }, "tree_rounds", 3},
		"tokens": {func(p *backend.Preferences) { p.TreeTokens = 300 }, "tree_tokens", 330},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t)
			p := newPage(t, t.TempDir(), t.TempDir(), everyProvider(server))
			w := wires[1]
			deep(p, c.caps)
			used := llm.Usage{Input: 100, Output: 10, Known: true}
			look := llmtest.Round{Calls: []llmtest.Call{w.uses("Glob", "glob", args{"pattern": "*"})}, Usage: used}
			server.Script(w.model, llmtest.Round{Calls: []llmtest.Call{w.starts("", "Look.", args{"model": "helper"})}, Usage: used})
			server.Script("helper", look, look, look)
			id := w.inMode(p, agent.ModeDefault)
			p.send(id, "go")
			for range 2 { // of the agent, and of the session
				if limit := await(p, anyOf[agent.TurnLimit]); limit.Limit != c.limit || limit.Count != c.count {
					t.Errorf("%+v", limit)
				}
				await(p, func(e agent.ProcessingEnd) bool { return e.Reason == agent.EndLimit })
			}
			if n := len(asked(server, "helper")); n != 2 {
				t.Errorf("the agent asked %d times", n)
			}
		})
	}
}

// Limits out of bounds are refused.
func TestTreeLimitsAreChecked(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	before := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	for _, caps := range []backend.Preferences{{AgentDepth: 4}, {AgentDepth: -1}, {TreeRounds: -1}, {TreeRounds: 10_001}, {TreeTokens: -1}} {
		after := before
		after.AgentDepth, after.TreeRounds, after.TreeTokens = caps.AgentDepth, caps.TreeRounds, caps.TreeTokens
		_, err := call[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{Before: before, After: after})
		if e := (*backend.Error)(nil); !errors.As(err, &e) || e.Code != backend.CodeInvalid {
			t.Errorf("%+v: %v", caps, err)
		}
	}
}

// An agent that begins like one before it waits until that one was answered, so that it reads
// what the provider then has in its cache.
func TestSiblingsAreStaggered(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		call := w.starts("", "Look.", args{"model": "helper"})
		server.Script("helper") // which does not answer yet
		server.Script(w.model, llmtest.Round{Calls: []llmtest.Call{call, call}}, llmtest.Round{Text: "All done."})
		id := w.inMode(p, agent.ModeDefault)
		p.send(id, "go")
		for deadline := time.After(patience); len(tree(p, id)) < 2; {
			p.more(deadline, "two agents")
		}
		for all := server.AllRequests(); len(asked(server, "helper")) < 1; all = server.AllRequests() {
			server.AwaitRequests(t, len(all)+1)
		}
		answers := time.Now()
		server.Script("helper", llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Seen."})
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
		var came []time.Time
		for _, r := range server.Requests() {
			if strings.Contains(string(r.Body), `"model":"helper"`) && !strings.Contains(string(r.Body), "All done") && !strings.Contains(string(r.Body), w.agent) || strings.Contains(r.Path, "/helper:") {
				came = append(came, r.Came)
			}
		}
		if len(came) != 2 || !came[0].Before(answers) || !came[1].After(answers) {
			t.Errorf("asked at %v, answered at %s", came, answers)
		}
	})
}
