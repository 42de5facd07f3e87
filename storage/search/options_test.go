//go:build sqlite_fts5 || fts5

package search_test

import (
	"fmt"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"github.com/google/go-cmp/cmp"
)

// TestOptionsAreFound proves that commands with options are found as they stand, in
// a query as it is typed, and that the words of their letters are not excluded.
func TestOptionsAreFound(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(backend.SessionInfo{ID: "a"})
	lines := map[string]int64{}
	for _, line := range []string{
		"rm -rf build", "git commit --no-verify -m x", "git push --force origin", "ls -la src", "tar -xzf a.tgz", "find . -name '*.go' -delete", "go test -race ./...",
		"kubectl get pods -o wide", "docker run -it --rm alpine", "printf -v x", "echo start of tar", "grep -rn perf", "a time-out of the transport-layer", "ssh -p2222 host", "curl\n-sSL x", "rm -r -f x",
	} {
		lines[line] = s.append("a", agent.UserInput{Text: line})
	}
	for text, want := range map[string]string{
		"rm -rf": "rm -rf build", "--no-verify": "git commit --no-verify -m x", "git push --force": "git push --force origin", "ls -la": "ls -la src",
		"tar -xzf": "tar -xzf a.tgz", "-delete": "find . -name '*.go' -delete", "test -RACE": "go test -race ./...", "pods -o": "kubectl get pods -o wide",
		"-it --rm": "docker run -it --rm alpine", "printf -v": "printf -v x", "-p2222": "ssh -p2222 host", "curl -ssl": "curl\n-sSL x", "-r -f": "rm -r -f x",
		`"-rf"`: "rm -rf build", "--force": "git push --force origin", "git commit -m": "git commit --no-verify -m x",
	} {
		s.expect(text, fmt.Sprintf("a@%d", lines[want]))
	}
	// Where no text has the option, the word is excluded.
	s.expect("tar -start", fmt.Sprintf("a@%d", lines["tar -xzf a.tgz"]))
	s.expect("transport -out", "")
	s.expect("git -verify", fmt.Sprintf("a@%d", lines["git push --force origin"]))
	s.expect(`rm -"-rf" -"--rm" -"r -f"`, "")
}

// TestHyphensAreSaid proves that a search says what a hyphen was taken for, and how
// the other is typed.
func TestHyphensAreSaid(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(backend.SessionInfo{ID: "a"})
	s.append("a", agent.UserInput{Text: "rm -rf build"}, agent.UserInput{Text: "rm once"})
	type said = []backend.SearchHyphen
	for text, want := range map[string]said{
		"rm":              nil,
		"rm --rf":         nil,
		"rm -rf":          {{Word: "rf", Raw: "-rf", Instead: `-"rf"`}},
		"rm -once":        {{Word: "once", Excluded: true, Raw: "-once", Instead: `"-once"`}},
		`rm -"once more"`: {{Word: "once more", Excluded: true, Raw: `-"once more"`, Instead: `"-once more"`}},
		"-once":           {{Word: "once", Excluded: true, Raw: "-once", Instead: `"-once"`}},
		`rm -5"x`:         {{Word: `5"x`, Excluded: true, Raw: `-5"x`}},
	} {
		if diff := cmp.Diff(want, said(s.search(backend.Search{Text: text}).Hyphens)); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// TestOptionsHoldInAllParts proves that the parts of a search agree about an option,
// also when a text with it is added between them.
func TestOptionsHoldInAllParts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		s.create(backend.SessionInfo{ID: id})
		s.append(id, agent.UserInput{Text: "build the thing"}, agent.UserInput{Text: "build it slowly"})
	}
	in := backend.Search{Text: "build -slowly", Limit: 1}
	var got []string
	for range 10 {
		found := s.search(in)
		for _, f := range found.Sessions {
			for _, h := range f.Hits {
				got = append(got, f.Session+" "+h.Snippet)
			}
		}
		if in.Next = found.Next; in.Next == "" {
			break
		}
		s.append("s0", agent.UserInput{Text: "build -slowly"})
	}
	if diff := cmp.Diff([]string{"s2 build the thing", "s1 build the thing", "s0 build the thing"}, got); diff != "" {
		t.Error(diff)
	}
}
