package boundary

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// world makes a project with scripts and a link that leads to /etc.
func world(t testing.TB) (project string) {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"deletes.sh": "#!/bin/sh\nset -e\nrm -rf build\n", "lists.sh": "#!/usr/bin/env bash\nls -la\n", "calls.sh": "sh deletes.sh\n",
		"d1.sh": "sh d2.sh\n", "d2.sh": "sh d3.sh\n", "d3.sh": "sh d4.sh\n", "d4.sh": "sh d5.sh\n", "d5.sh": "ls\n", // at most four in each other
		"bare.sh": "rm x\n", "other.sh": "#!/usr/bin/env -S A=1 fish\nrm x\n", // the first is read by bash itself
		"script.py": "print(1)\n", "src/main.go": "package main\n",
	} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	return project
}

// TestCommands checks the lines of the table. OAS-645, OAS-646, OAS-647,
// OAS-648, OAS-649, OAS-650, OAS-651, OAS-652, OAS-653, OAS-655, K-33, K-38.
func TestCommands(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	project := world(t)
	var c *Checker
	cases := 0
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSuffix(line, "\n")
		if lists, ok := strings.CutPrefix(line, "= "); ok {
			var s Settings
			if err := json.Unmarshal([]byte(lists), &s); err != nil {
				t.Fatalf("%s: %v", lists, err)
			}
			c = New(s, project, "/home/ada")
			continue
		}
		want, command, _ := strings.Cut(line, " ")
		if want == "" || want == "#" {
			continue
		}
		cases++
		got := c.Command(strings.ReplaceAll(command, `\n`, "\n"), project)
		if got.Decision != agent.Decision(want) || (got.Reason == "") != (want == "allow") {
			t.Errorf("%s: %s %q, want %s; %+v", command, got.Decision, got.Reason, want, c.settings)
		}
	}
	if cases < 200 {
		t.Errorf("only %d cases", cases)
	}
}

// OAS-641, OAS-642, OAS-643, OAS-644.
func TestPaths(t *testing.T) {
	t.Parallel()
	project := world(t)
	c := New(Settings{
		AllowedReadPaths: []string{"/project/", "."}, AllowedWritePaths: []string{"/project/build/", "~/out"}, DeniedPaths: []string{"/etc/", "/project/secret"},
	}, project, "/home/ada")
	for _, tt := range []struct {
		path string
		op   Operation
		want agent.Decision
	}{
		{"/project/src/main.swift", Read, agent.Allow},
		{"/project", Read, agent.Allow},
		{"/project-backup/old.swift", Read, agent.Deny},
		{"/project/src/../../etc/passwd", Read, agent.Deny},
		{"/project/./src//x", Read, agent.Allow},
		{"/project/secret", Read, agent.Deny},
		{"/project/secret/key", Read, agent.Deny},
		{"/project/secretary", Read, agent.Allow},
		{"/project/src/x", Write, agent.Deny},
		{"/project/build/x", Write, agent.Allow},
		{"/project/build", Write, agent.Allow},
		{"/home/ada/out/x", Write, agent.Allow},
		{"~/out/x", Write, agent.Allow},
		{"src/main.go", Read, agent.Allow},
		{"link/passwd", Read, agent.Deny},
		{"link/new/file", Read, agent.Deny},
		{"../other", Read, agent.Deny},
	} {
		if got := c.Path(tt.path, tt.op); got.Decision != tt.want {
			t.Errorf("%s %s: %+v, want %s", tt.op, tt.path, got, tt.want)
		}
	}
	// A folder whose name is a link is the folder that it leads to.
	if err := os.Symlink(filepath.Join(project, "src"), filepath.Join(project, "alias")); err != nil {
		t.Fatal(err)
	}
	linked := New(Settings{AllowedReadPaths: []string{"alias"}, DeniedPaths: []string{"alias/hidden"}}, project, "")
	for path, want := range map[string]agent.Decision{"src/x": agent.Allow, "alias/x": agent.Allow, "src/hidden": agent.Deny, "deletes.sh": agent.Deny} {
		if got := linked.Path(path, Read); got.Decision != want {
			t.Errorf("%s: %+v, want %s", path, got, want)
		}
	}
}

// Upper and lower case are the same to some file systems (OAS-643).
func TestPathsWithoutCase(t *testing.T) {
	t.Parallel()
	c := New(Settings{DeniedPaths: []string{"/Work/Secret"}, DeniedCommands: []string{"rm"}}, t.TempDir(), "")
	c.fold = true
	if got := c.Path("/work/SECRET/x", Read); got.Decision != agent.Deny {
		t.Errorf("%+v", got)
	}
	if got := c.Command("RM x", c.project); got.Decision != agent.Deny {
		t.Errorf("%+v", got)
	}
}

// Any line is checked within limits, and a denied line stays denied when
// something is put before it.
func FuzzCommand(f *testing.F) {
	for _, line := range []string{"ls", "()0", "bash -c 'rm x'", "a() { a | a & }; a", "cat <<E\n$(x)\nE\n", "x=$(rm y) ls", "find . -exec sh -c 'rm {}' \\;"} {
		f.Add(line)
	}
	c := New(Settings{DeniedCommands: []string{"rm"}, DeniedPaths: []string{"/etc"}}, "/nowhere", "/home/ada")
	f.Fuzz(func(t *testing.T, line string) {
		c.Command(line, "/nowhere")
		if got := c.Command("rm x; "+line, "/nowhere"); got.Decision != agent.Deny {
			t.Errorf("%q after rm: %+v", line, got)
		}
	})
}
