package profile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/ask"
	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/fetch"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
	"atelier.dev/atelier/agent/monitor"
	"atelier.dev/atelier/agent/plan"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/agent/team"
	"atelier.dev/atelier/agent/todo"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/agent/websearch"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden requests")

// adapters are the providers, by the wire formats in which their profiles are
// sent.
var adapters = map[string]func(*llmtest.Server) agent.Model{
	"openai": func(s *llmtest.Server) agent.Model { return openai.New(llm.AdapterConfig{BaseURL: s.URL, APIKey: "k"}) },
	"anthropic": func(s *llmtest.Server) agent.Model {
		return anthropic.New(llm.AdapterConfig{BaseURL: s.Root, APIKey: "k"})
	},
	"gemini": func(s *llmtest.Server) agent.Model {
		return gemini.New(llm.AdapterConfig{BaseURL: s.Root, APIKey: "k"})
	},
	"compat": func(s *llmtest.Server) agent.Model { return compat.New(llm.AdapterConfig{BaseURL: s.URL, APIKey: "k"}) },
}

// place is a project with a document of every kind, and a session on it.
type place struct {
	t            *testing.T
	folder, home string
	profiles     *profile.Profiles
	session      *agent.Session
	server       *llmtest.Server
	local        *env.Local
}

func newPlace(t *testing.T, provider string, naming profile.Naming, custom []agent.Tool, rounds ...llmtest.Round) *place {
	t.Helper()
	around := func(e env.Environment) env.Environment { return e }
	return newPlaceWith(t, provider, around, profile.Surroundings{Naming: naming}, custom, rounds...)
}

// newPlaceWith is newPlace with an environment around this machine's, and with
// the user's settings.
func newPlaceWith(t *testing.T, provider string, around func(env.Environment) env.Environment, s profile.Surroundings,
	custom []agent.Tool, rounds ...llmtest.Round,
) *place {
	t.Helper()
	p := &place{t: t, folder: t.TempDir(), home: t.TempDir(), server: llmtest.Serve(t, rounds...)}
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", "AGENTS.md": "Everybody: tabs.\n", "CLAUDE.md": "Claude: spaces.\n",
		"GEMINI.md": "Gemini: neither.\n", ".codex/instructions.md": "Codex: both.\n",
	} {
		p.put(filepath.Join(p.folder, name), text)
	}
	p.put(filepath.Join(p.home, "AGENTS.md"), "I like short names.\n")
	local, err := env.NewLocal(p.folder)
	if err != nil {
		t.Fatal(err)
	}
	p.local = local
	registry, err := agent.NewRegistry(append(productTools(around(local)), custom...)...)
	if err != nil {
		t.Fatal(err)
	}
	s.Folder, s.Home, s.Platform, s.OS = p.folder, p.home, "linux", "Debian 13"
	s.Outlive = s.Naming != profile.NamingSpec
	s.Now = func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }
	s.Cutoff = func(string, string) string { return "2026-05" }
	p.profiles = profile.New(registry, s)
	p.open(provider, adapters[provider](p.server))
	return p
}

// productTools are the tools of a session as the product assembles them
// (backend/workbench/assemble.go).
func productTools(e env.Environment) []agent.Tool {
	tasks := &tool.Tasks{}
	all := append(tool.Builtin(e, tool.Options{ApplyPatch: true, Outlive: true, Tasks: tasks}), fetch.Tool(fetch.Config{}), websearch.Tool(websearch.Config{}))
	all = append(all, subagent.Tools(nil, agentdef.List(agentdef.BuiltIn()))...)
	all = append(append(all, monitor.Tool(all[slices.IndexFunc(all, isShell)], tasks, monitor.New(func() {})), ask.Tool(), todo.Tool()), plan.Tools()...)
	return append(board.Tools(&board.Memory{}, "", all), team.Tools(team.Desk{}, true)...)
}

func isShell(t agent.Tool) bool { return t.Spec().Name == "Bash" }

// cleanUp ends commands that still run.
func (p *place) cleanUp() {
	if err := p.local.Cleanup(context.Background()); err != nil {
		p.t.Error(err)
	}
}

func (p *place) put(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) open(provider string, model agent.Model) {
	ids := 0
	session, err := agent.New(agent.Config{
		ID: "s1", Model: model, Profiles: p.profiles, Gate: allow{}, Limits: agent.DefaultLimits, Reduce: tool.Truncate,
		Now: time.Now, NewID: func() string { ids++; return fmt.Sprintf("id-%d", ids) },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.session = session
	p.session.Record(agent.SettingsChange{Settings: agent.Settings{Provider: provider, Model: "test-model", Mode: agent.ModeBypass}})
}

type allow struct{}

func (allow) Decide(context.Context, agent.GateCall) agent.Verdict {
	return agent.Verdict{Decision: agent.Allow}
}

// run runs an input to its end.
func (p *place) run(input string) []agent.Event {
	p.t.Helper()
	var events []agent.Event
	for ev, err := range p.session.Run(p.t.Context(), input) {
		if err != nil {
			p.t.Fatal(err)
		}
		if f, failed := ev.Data.(agent.Failure); failed {
			p.t.Fatalf("%+v", f)
		}
		events = append(events, ev)
	}
	return events
}

// stable replaces the folders with a fixed name.
func (p *place) stable(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, p.folder, "/work/app"), p.home, "/home/me/.atelier")
}

// LOOP-10, LOOP-22, LOOP-43, LOOP-45, LOOP-109, LOOP-110, LOOP-111, LOOP-112,
// LOOP-139, LOOP-140, LOOP-141, K-26: the requests to the models of each vendor
// are golden, to the byte. -update rewrites them; read the difference.
func TestGoldenRequests(t *testing.T) {
	t.Parallel()
	for provider := range adapters {
		for _, naming := range []profile.Naming{profile.NamingNative, profile.NamingSpec} {
			if provider == "compat" && naming == profile.NamingNative {
				continue // it is shown the specification's names anyway
			}
			name := provider + "-" + string(naming)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, provider, naming, nil, llmtest.Round{Text: "hello"})
				events := p.run("Say hello.")
				got := golden(p, events)
				file := filepath.Join("testdata", name+".txtar")
				if *update {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// golden returns the first request: the system prompt as text, the rest as
// JSON.
func golden(p *place, events []agent.Event) []byte {
	p.t.Helper()
	var system string
	for _, ev := range events {
		if b, ok := ev.Data.(agent.Briefing); ok {
			system = p.stable(b.System)
		}
	}
	var body any
	if err := json.Unmarshal([]byte(p.stable(string(p.server.Requests()[0].Body))), &body); err != nil {
		p.t.Fatal(err)
	}
	request := strings.ReplaceAll(encoded(p.t, body), strings.TrimSpace(encoded(p.t, system)), `"(the system prompt)"`)
	if !strings.Contains(request, "(the system prompt)") {
		p.t.Errorf("the request does not have the system prompt: %s", request)
	}
	return txtar.Format(&txtar.Archive{Files: []txtar.File{
		{Name: "system", Data: []byte(system + "\n")}, {Name: "request.json", Data: []byte(request)},
	}})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
