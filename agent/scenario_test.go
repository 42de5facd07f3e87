package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the scenarios' expected parts")

// LOOP-02, LOOP-07: the model is asked once a round, as a stream, and the tools
// of its answer are run, until it calls none.
//
// Each scenario is an archive: the model's script, what the user types and
// answers, and what must come of it: every event, and the messages of the
// last request.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/loop/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			events, request := play(t, part(archive, "script.json"), part(archive, "inputs"), part(archive, "answers.json"))
			if *update {
				set(archive, "events", events)
				set(archive, "last-request.json", request)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(part(archive, "events")), string(events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(part(archive, "last-request.json")), string(request)); diff != "" {
				t.Errorf("last request (-want +got):\n%s", diff)
			}
		})
	}
}

func part(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func set(a *txtar.Archive, name string, data []byte) {
	for i, f := range a.Files {
		if f.Name == name {
			a.Files[i].Data = data
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: data})
}

// play runs a scenario. Answers are given to approval requests in turn.
func play(t *testing.T, script, inputs, answers []byte) (events, request []byte) {
	t.Helper()
	var rounds []llmtest.Round
	if err := json.Unmarshal(script, &rounds); err != nil {
		t.Fatalf("script.json: %v", err)
	}
	var given []agent.Answer
	if len(answers) > 0 {
		if err := json.Unmarshal(answers, &given); err != nil {
			t.Fatalf("answers.json: %v", err)
		}
	}
	model := llmtest.Script(rounds...)
	r := newRig(t, model)
	r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
		if len(given) == 0 {
			return agent.Answer{}, fmt.Errorf("nobody is here")
		}
		answer := given[0]
		given = given[1:]
		return answer, nil
	})
	names := stableNames{seen: map[string]string{}}
	var out bytes.Buffer
	for line := range strings.Lines(string(inputs)) {
		for _, ev := range r.run(strings.TrimSpace(line)) {
			data, err := json.Marshal(ev.Data)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%d %s %s\n", ev.Seq, ev.Kind(), names.replace(string(data)))
		}
	}
	requests := model.Requests()
	last, err := json.MarshalIndent(requests[len(requests)-1].Messages, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), []byte(names.replace(string(last)) + "\n")
}

// stableNames replaces generated call ids by their order of appearance.
type stableNames struct{ seen map[string]string }

var callID = regexp.MustCompile(`call_[0-9A-Za-z]{26}`)

func (n stableNames) replace(s string) string {
	return callID.ReplaceAllStringFunc(s, func(id string) string {
		if n.seen[id] == "" {
			n.seen[id] = fmt.Sprintf("call-%d", len(n.seen)+1)
		}
		return n.seen[id]
	})
}
