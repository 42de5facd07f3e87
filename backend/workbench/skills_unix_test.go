//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/storage"
)

// skilled opens a page of a user with skills: files by their paths below the user's home.
func skilled(t *testing.T, files map[string]string, rounds ...llmtest.Round) (*page, *llmtest.Server) {
	t.Helper()
	user := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(user, filepath.FromSlash(name)), text)
	}
	return openFor(t, user, rounds...)
}

// openFor opens a page of a user.
func openFor(t *testing.T, user string, rounds ...llmtest.Round) (*page, *llmtest.Server) {
	t.Helper()
	server := llmtest.Serve(t, rounds...)
	from := environment(server, "k")
	getenv := func(name string) string {
		if name == "HOME" {
			return user
		}
		return from(name)
	}
	return openPage(t, t.TempDir(), t.TempDir(), getenv, func(s *storage.Store) backend.Store { return s }), server
}

// skillFile is the text of a skill.
func skillFile(name, more, body string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + " things. Use when asked.\n" + more + "---\n" + body + "\n"
}

// command begins a turn as a page does.
func (p *page) command(session, typed string) {
	p.t.Helper()
	name, args, _ := strings.Cut(strings.TrimPrefix(typed, "/"), " ")
	must[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: session, Text: typed, Command: &backend.CommandCall{Name: name, Arguments: args}})
}

// commandNames lists what can be typed after a slash and is a skill.
func (p *page) commandNames(session string) []string {
	p.t.Helper()
	var names []string
	for _, c := range must[backend.CommandsReply](p, "commands.list", mcp.ServersRequest{Session: session}).Commands {
		if c.Kind == backend.CommandSkill {
			names = append(names, c.Name)
		}
	}
	return names
}

// OAS-814, OAS-816: a person begins a skill by an alias; a model that does not obey is
// refused what the skill does not allow, until the person's next message.
func TestSkillByItsAlias(t *testing.T) {
	t.Parallel()
	disobeys := llmtest.Round{Calls: []llmtest.Call{
		llmtest.Use("Write", map[string]string{"file_path": "a.txt", "content": "x"}),
		llmtest.Use("Bash", map[string]string{"command": "pwd"}),
	}}
	p, server := skilled(t, map[string]string{
		".agent/skills/look/SKILL.md": skillFile("look", "aliases: [peek]\nallowed-tools: Read, bash\n", "Look at $ARGUMENTS closely."),
	}, disobeys, llmtest.Round{Text: "Seen."}, disobeys, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.command(id, "/peek the roof")
	in := await(p, anyOf[agent.UserInput])
	if in.Typed != "/peek the roof" || in.Skill == nil || in.Skill.Name != "look" || !in.Skill.ByUser || !strings.Contains(in.Text, "Look at the roof closely.") {
		t.Errorf("%+v", in)
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDenied || end.Authority.By != agent.BySkill {
		t.Errorf("%+v", end)
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	if body := string(server.Requests()[1].Body); !strings.Contains(body, "The skill look is in use") || strings.Contains(body, "/peek") {
		t.Errorf("the model was told: %s", body)
	}
	p.send(id, "and now?")
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// A prompt says where the files of its skill are, and nobody is asked when a model reads them.
func TestSkillFilesAreRead(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	guide := filepath.Join(user, ".claude", "skills", "look", "references", "guide.md")
	put(t, guide, "Look twice.")
	put(t, filepath.Join(user, ".claude", "skills", "look", "SKILL.md"), skillFile("look", "", "Read references/guide.md first."))
	read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]string{"file_path": guide})}}
	p, _ := openFor(t, user, read, llmtest.Round{Text: "Seen."})
	p.command(p.session("openai"), "/look")
	if in := await(p, anyOf[agent.UserInput]); !strings.Contains(in.Text, filepath.Dir(filepath.Dir(guide))) {
		t.Errorf("%q", in.Text)
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone || !strings.Contains(end.Output, "Look twice.") {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// OAS-312, OAS-815: a model is told which skills there are, begins one inside another and
// ends it.
func TestSkillByTheModel(t *testing.T) {
	t.Parallel()
	use := func(input map[string]any) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Skill", input)}}
	}
	look := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Glob", map[string]string{"pattern": "*"})}}
	p, server := skilled(t, map[string]string{
		".agent/skills/outer/SKILL.md":  skillFile("outer", "allowed-tools: Read, Skill\n", "Outer work on $1."),
		".agent/skills/inner/SKILL.md":  skillFile("inner", "allowed-tools: [Glob]\n", "Inner work."),
		".agent/skills/mine/SKILL.md":   skillFile("mine", "disable-model-invocation: true\n", "Mine."),
		".agent/skills/silent/SKILL.md": skillFile("silent", "user-invocable: false\n", "Silent."),
	}, use(map[string]any{"skill": "mine"}), use(map[string]any{"skill": "outer", "args": "x y"}), look, use(map[string]any{"skill": "inner"}), look,
		use(map[string]any{"skill": "inner", "end": true}), look, use(map[string]any{"skill": "outer", "end": true}), look, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.send(id, "go")
	var got []string
	for range 9 {
		end := await(p, anyOf[agent.ToolCallEnd])
		got = append(got, end.Tool+" "+string(end.Outcome))
	}
	await(p, anyOf[agent.ProcessingEnd])
	want := []string{
		"Skill failed", "Skill done", "Glob denied", "Skill done", "Glob done",
		"Skill done", "Glob denied", "Skill done", "Glob done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	first := string(server.Requests()[0].Body)
	if !strings.Contains(first, "Does outer things") || !strings.Contains(first, "Does silent things") || strings.Contains(first, "Does mine things") {
		t.Errorf("the model was told: %s", first)
	}
	if !strings.Contains(string(server.Requests()[2].Body), "Outer work on x.") {
		t.Error("the skill's arguments did not reach its prompt")
	}
	names := p.commandNames(id)
	if !slices.Contains(names, "mine") || slices.Contains(names, "silent") || !slices.Contains(names, "commit") {
		t.Errorf("%q", names)
	}
}

// The lines of a command run before it is sent, with arguments that no shell reads; files
// are attached. What a rule denies, or plan mode would ask about, keeps it from being sent.
func TestCommandRunsItsLines(t *testing.T) {
	t.Parallel()
	p, server := skilled(t, map[string]string{
		".claude/commands/git/state.md": "---\ndescription: Says how it stands.\n---\nState: !`printf '%s|' $ARGUMENTS` and !`printf '%s' \"$1\"`.\nSee @notes.txt and mail me@example.com.\n",
		".claude/commands/touch.md":     "Made: !`touch made.txt && echo yes`\n",
		".agent/settings.json":          `{"permissions":{"deny":["Bash(touch forbidden.txt)"]}}`,
		".claude/commands/deny.md":      "!`touch forbidden.txt`\n",
	}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
	put(t, filepath.Join(p.folder, "notes.txt"), "buy milk")
	id := p.session("openai")
	p.command(id, `/git:state a;touch$IFS"hacked $(touch hacked)`)
	await(p, anyOf[agent.ProcessingEnd])
	text := string(server.Requests()[0].Body)
	for _, want := range []string{`State: a;touch$IFS`, "buy milk", "me@example.com"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(p.folder, "*hacked*")); len(found) > 0 {
		t.Errorf("arguments were run: %q", found)
	}
	deny := conversation.SendRequest{Session: id, Text: "/deny", Command: &backend.CommandCall{Name: "deny"}}
	if _, err := call[backend.Empty](p, "conversation.send", deny); err == nil || err.ID != backend.ProblemSkillLineDenied {
		t.Errorf("%v", err)
	}
	info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session
	info.Settings.Mode = agent.ModePlan
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: info.Settings})
	touch := conversation.SendRequest{Session: id, Text: "/touch", Command: &backend.CommandCall{Name: "touch"}}
	if _, err := call[backend.Empty](p, "conversation.send", touch); err == nil || err.ID != backend.ProblemSkillLineDenied {
		t.Errorf("in plan mode: %v", err)
	}
	info.Settings.Mode = agent.ModeDefault
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: info.Settings})
	p.command(id, "/touch")
	await(p, anyOf[agent.ProcessingEnd])
	if _, err := os.Stat(filepath.Join(p.folder, "made.txt")); err != nil || !strings.Contains(string(server.Requests()[1].Body), "Made: yes") {
		t.Errorf("%v: %s", err, string(server.Requests()[1].Body))
	}
	if _, err := os.Stat(filepath.Join(p.folder, "forbidden.txt")); err == nil {
		t.Error("a denied line ran")
	}
}

// A skill of the project that runs something is not there before it is trusted; one that
// is written while a session runs is told to its model with the next request.
func TestSkillOfTheProject(t *testing.T) {
	t.Parallel()
	p, server := skilled(t, nil, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	put(t, filepath.Join(p.folder, ".agent/skills/runs/SKILL.md"), skillFile("runs", "", "Do !`echo ran`."))
	put(t, filepath.Join(p.folder, ".agent/skills/scripted/SKILL.md"), skillFile("scripted", "", "Run scripts/go.sh."))
	put(t, filepath.Join(p.folder, ".agent/skills/scripted/scripts/go.sh"), "#!/bin/sh\necho hi\n")
	id := p.session("openai")
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	if text := string(server.Requests()[0].Body); strings.Contains(text, "Does runs things") || strings.Contains(text, "Does scripted things") {
		t.Errorf("an untrusted skill was offered: %s", text)
	}
	for _, name := range []string{"runs", "scripted"} {
		in := conversation.SendRequest{Session: id, Text: "/" + name, Command: &backend.CommandCall{Name: name}}
		if _, err := call[backend.Empty](p, "conversation.send", in); err == nil {
			t.Errorf("%s was begun", name)
		}
	}
	put(t, filepath.Join(p.folder, ".agent/skills/late/SKILL.md"), skillFile("late", "", "Be late."))
	deadline := time.After(patience)
	for !slices.Contains(p.commandNames(id), "late") {
		p.more(deadline, "the skill")
	}
	p.send(id, "again")
	await(p, anyOf[agent.ProcessingEnd])
	if !strings.Contains(string(server.Requests()[1].Body), "Does late things") {
		t.Error("the model was not told of the new skill")
	}
}

// The file of a skill names a level, a family of models or a model of the session's provider;
// it never chooses another provider.
func TestSkillNamesAModel(t *testing.T) {
	t.Parallel()
	p, _ := skilled(t, nil)
	for _, tt := range []struct {
		provider, name, want string
		ok                   bool
	}{
		{"openai", "gpt-6.1-sol", "gpt-6.1-sol", true},
		{"openai", "openai/gpt-6.1-sol", "gpt-6.1-sol", true},
		{"openai", "no-such-model", "", false},
		{"openai", "anthropic/claude-opus-5", "", false},
		{"openai", "inherit", "", false},
		{"openai", "", "", false},
	} {
		got, ok := p.bench.Providers().Named(t.Context(), agent.Settings{Provider: tt.provider, Model: "gpt-6.1-sol"}, tt.name)
		if ok != tt.ok || got.Model != tt.want || ok && got.Provider != tt.provider {
			t.Errorf("%q is %+v, %t", tt.name, got, ok)
		}
	}
	low, ok := p.bench.Providers().Named(t.Context(), agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, "Haiku")
	if !ok || low.Provider != "openai" || low.Model == "" {
		t.Errorf("%+v, %t", low, ok)
	}
}

// A skill's limits hold for the agents that are started while it is in use, and an older
// agent is given no more work meanwhile.
func TestSkillLimitsAgents(t *testing.T) {
	t.Parallel()
	p, server := skilled(t, map[string]string{
		".agent/skills/look/SKILL.md": skillFile("look", "allowed-tools: Read, Agent\n", "Look."),
	})
	server.Script("helper", llmtest.Round{Text: "Ready."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Wait for more.", nil)}}) // so that its next request waits
	id := p.session("openai")
	p.send(id, "go")
	older, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": older})}}, llmtest.Round{Text: "It waits."})
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "It waits." })
	await(p, anyOf[agent.ProcessingEnd])
	server.Script("helper", llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]string{"file_path": "a.txt", "content": "x"})}}, llmtest.Round{Text: "Tried."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("SendInput", map[string]any{"agent_id": older, "message": "Write a.txt."})}},
		llmtest.Round{Calls: []llmtest.Call{spawn("Write a.txt.", nil)}}, llmtest.Round{Text: "Done."})
	p.command(id, "/look")
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "SendInput" }); !end.IsError || !strings.Contains(end.Output, "before the skill look was in use") {
		t.Errorf("the older agent: %+v", end)
	}
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Write" }); end.Outcome != agent.OutcomeDenied || end.Authority.By != agent.BySkill {
		t.Errorf("the new agent: %+v", end)
	}
}
