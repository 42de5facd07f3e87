package workbench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/languages"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// OC-01, OAS-326: a session asks a real language server, which runs confined and changes
// nothing in the project, and the model is told what is wrong with its edit. With the
// switch off the question is answered by a search.
func TestLanguageServer(t *testing.T) {
	tools, err := filepath.Abs("../../.cache/tools")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools, "gopls")); err != nil {
		t.Skip("scripts/setup.sh has not installed gopls")
	}
	if !sandbox.CanConfine(t.Context()) {
		t.Skip("nothing can be confined here")
	}
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", "a.go": "package m\n\nfunc Area() int { return 1 }\n", "b.go": "package m\n\nvar x = Area()\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("LSP", args{"operation": "findReferences", "file_path": "a.go", "line": 2, "character": 5})}}
	edit := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Edit", args{"file_path": "a.go", "old_string": "return 1", "new_string": "return one"})}}
	read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", args{"file_path": "a.go"})}}
	server := llmtest.Serve(t, read, ask, edit, llmtest.Round{Text: "Done."}, ask, llmtest.Round{Text: "Done."})
	p := openPage(t, folder, t.TempDir(), environment(server, "sk-test"), func(s *storage.Store) backend.Store { return s },
		func(cfg *workbench.Config) { cfg.Naming = "spec" })
	id := p.session("compat")
	p.send(id, "go")
	await(p, anyOf[agent.ToolCallEnd])
	found := await(p, anyOf[agent.ToolCallEnd])
	if found.IsError || !strings.Contains(found.Output, "[Answered by gopls.]") || !strings.Contains(found.Output, "b.go:3:9: var x = Area()") {
		t.Errorf("it answered %+v", found)
	}
	p.answer(backend.Approval{Session: id, Request: await(p, anyOf[agent.ApprovalRequest])}, agent.Answer{Decision: agent.Allow})
	await(p, anyOf[agent.ProcessingEnd])
	if told := string(server.Requests()[3].Body); !strings.Contains(told, "a.go:3:26: error: undefined: one") {
		t.Errorf("the model was told %s", told)
	}
	faults := must[languages.FaultList](p, "languages.faults", languages.FaultQuery{Session: id, Paths: []string{"a.go", "b.go"}})
	if want := (languages.CodeFault{Path: "a.go", Line: 3, Message: "undefined: one"}); len(faults.Faults) != 1 || faults.Faults[0] != want {
		t.Errorf("the page is told %+v", faults)
	}
	rows := must[languages.LanguageServers](p, "languages.restart", languages.LanguageRestart{Language: "Go", Root: folder}).Servers
	if i := slices.IndexFunc(rows, func(s languages.LanguageServer) bool { return s.Language == "Go" }); i < 0 || rows[i].State != "running" || rows[i].Program != "gopls" || rows[i].PID == 0 {
		t.Errorf("restarted: %+v", rows)
	}
	only := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	only.LanguagesOff = []string{"Go"}
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: only})
	if rows = must[languages.LanguageServers](p, "languages.stop", languages.LanguageStop{Language: "Go"}).Servers; rows[0].State != "off" || rows[0].PID != 0 {
		t.Errorf("switched off: %+v", rows)
	}
	wish := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	wish.NoLanguageServers = true
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: wish})
	p.send(id, "again")
	if found = await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(found.Output, "language servers are switched off") || !strings.Contains(found.Output, "b.go:3:var x = Area()") {
		t.Errorf("switched off, it answered %+v", found)
	}
}

// A program that claims to be a language server changes nothing in the project, and the
// question is answered all the same.
func TestLanguageServerCannotWrite(t *testing.T) {
	if !sandbox.CanConfine(t.Context()) {
		t.Skip("nothing can be confined here")
	}
	programs, folder := t.TempDir(), t.TempDir()
	if home, err := os.UserHomeDir(); err == nil { // not among temporary files, which a confined program does not see
		if own, err := os.MkdirTemp(home, "programs"); err == nil {
			programs = own
			t.Cleanup(func() { _ = os.RemoveAll(own) })
		}
	}
	script := "#!/bin/sh\necho x >written.txt\necho tried >&2\nexit 7\n"
	if err := os.WriteFile(filepath.Join(programs, "gopls"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.go"), []byte("package m\n\nfunc Area() int { return 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	ask := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("LSP", args{"operation": "hover", "file_path": "a.go", "line": 2, "character": 5})}}
	p := newPage(t, folder, t.TempDir(), environment(llmtest.Serve(t, ask, llmtest.Round{Text: "Done."}), "sk-test"))
	p.send(p.session("compat"), "go")
	if end := await(p, anyOf[agent.ToolCallEnd]); end.IsError || !strings.Contains(end.Output, "it ended with code 7: tried") || !strings.Contains(end.Output, "func Area()") {
		t.Errorf("it answered %+v", end)
	}
	if _, err := os.Stat(filepath.Join(folder, "written.txt")); err == nil {
		t.Error("the program wrote into the project")
	}
}
