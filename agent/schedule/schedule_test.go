package schedule_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for the zones of the tests

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/schedule"
)

// OAS-323: what is no schedule is refused with the reason: six fields, a time that never
// comes, one that comes too often, a zone, and what the parser cannot bear.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 9 * * 1-5": "", "*/15 * * * *": "", " 0  9 1 jan mon ": "", "@daily": "", "@every 10m": "", "@hourly": "", "0 0 29 2 *": "",
		"":                              "is empty",
		"* * * * * *":                   "six",
		"*/1 * * * * *":                 "without seconds",
		"* * *":                         "has 3 fields",
		"0 0 31 2 *":                    "never occurs",
		"0 0 30 feb *":                  "never occurs",
		"@every 1s":                     "once a minute at most",
		"@every -1h":                    "too dense",
		"@every x":                      "cannot be read",
		"@reboot":                       "cannot be read",
		"60 * * * *":                    "cannot be read",
		"* 24 * * *":                    "cannot be read",
		"9-1 * * * *":                   "cannot be read",
		"*/0 * * * *":                   "cannot be read",
		"TZ=Europe/Berlin":              "leave out the time zone",
		"CRON_TZ=Asia/Tokyo 0 9 * * *":  "leave out the time zone",
		strings.Repeat("1,", 200) + "1": "longer than 200",
	} {
		if want == "six" {
			want = "has 6 fields"
		}
		spec, err := schedule.Parse(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && !spec.Next(time.Now()).IsZero() {
			t.Errorf("%q occurs all the same", text)
		}
	}
}

// FuzzParse finds what makes the parser panic or run on.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0 9 * * 1-5", "TZ=", "@every 1h", "*/5,1-2/3 ? L * *"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := schedule.Parse(text)
		now := time.Now()
		if next := spec.Next(now); err == nil && !next.After(now) {
			t.Errorf("%q: next is %s", text, next)
		}
	})
}

// K-19: a daily task runs once on the days on which clocks change, and one of every half an
// hour goes by the time that passes.
func TestClocksThatChange(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		spec  string
		after time.Time
		want  []string
	}{
		"the hour that is left out":   {"30 2 * * *", time.Date(2026, 3, 28, 3, 0, 0, 0, berlin), []string{"29 03:30 CEST", "30 02:30 CEST"}},
		"the hour that comes twice":   {"30 2 * * *", time.Date(2026, 10, 24, 3, 0, 0, 0, berlin), []string{"25 02:30 CEST", "26 02:30 CET"}},
		"half an hour, spring":        {"*/30 * * * *", time.Date(2026, 3, 29, 1, 0, 0, 0, berlin), []string{"29 01:30 CET", "29 03:00 CEST", "29 03:30 CEST"}},
		"half an hour, autumn":        {"*/30 * * * *", time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC).In(berlin), []string{"25 02:30 CEST", "25 02:00 CET", "25 02:30 CET", "25 03:00 CET"}},
		"@daily, autumn":              {"@daily", time.Date(2026, 10, 24, 12, 0, 0, 0, berlin), []string{"25 00:00 CEST", "26 00:00 CET"}},
		"@every, autumn":              {"@every 1h", time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC).In(berlin), []string{"25 02:00 CET", "25 03:00 CET"}},
		"after the first of the hour": {"30 2 * * *", time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).In(berlin), []string{"26 02:30 CET"}},
		"in the second hour":          {"* 2 * * *", time.Date(2026, 10, 25, 1, 10, 0, 0, time.UTC).In(berlin), []string{"26 02:00 CET"}},
	} {
		spec, err := schedule.Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		at := tt.after
		for range tt.want {
			at = spec.Next(at)
			got = append(got, at.Format("2 15:04 MST"))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// memory is a store without a runner.
type memory struct{ tasks []schedule.Task }

func (m *memory) Tasks(context.Context) ([]schedule.Task, error) { return m.tasks, nil }

func (m *memory) Add(_ context.Context, t schedule.Task) (schedule.Task, error) {
	t.ID = "task-1"
	m.tasks = append(m.tasks, t)
	return t, nil
}

func (m *memory) Change(_ context.Context, id string, change func(*schedule.Task) error) (schedule.Task, error) {
	i := slices.IndexFunc(m.tasks, func(t schedule.Task) bool { return t.ID == id })
	if i < 0 {
		return schedule.Task{}, schedule.ErrNoTask
	}
	return m.tasks[i], change(&m.tasks[i])
}

func (m *memory) Remove(ctx context.Context, id string) (schedule.Task, error) {
	t, err := m.Change(ctx, id, func(*schedule.Task) error { return nil })
	m.tasks = slices.DeleteFunc(m.tasks, func(t schedule.Task) bool { return t.ID == id })
	return t, err
}

func (m *memory) Trigger(ctx context.Context, id string) (schedule.Task, error) {
	return m.Change(ctx, id, func(t *schedule.Task) error { t.Next = 1; return nil })
}

// OAS-323, OAS-324, OAS-325, OAS-333: each tool takes what models send, says what it did, and
// refuses the rest with the reason.
func TestTools(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC) }
	kept := schedule.Task{ID: "task-9", Session: "s", Kind: schedule.Stored, Name: "old", Prompt: "look"}
	for i, tt := range []struct{ tool, input, fault, says string }{
		{schedule.Create, `{"cron":"0 9 * * *","prompt":"look"}`, "", "again and again by 0 9 * * *"},
		{schedule.Create, `{"schedule":"0 9 * * *","command":"make test","name":"tests"}`, "", "task-1 is set"},
		{schedule.Create, `{"cron":"0 9 * * *","prompt":"look","recurring":false}`, "", "once by"},
		{schedule.Create, `{"cron":"* * * * * *","prompt":"look"}`, "without seconds", ""},
		{schedule.Create, `{"cron":"0 0 31 2 *","prompt":"look"}`, "never occurs", ""},
		{schedule.Create, `{"cron":"@daily","prompt":" "}`, "empty", ""},
		{schedule.Create, `{"cron":"@daily","prompt":"a\u0000b"}`, "U+0000", ""},
		{schedule.Create, `{"cron":"@daily","prompt":"` + strings.Repeat("a", 10_001) + `"}`, "10001 characters", ""},
		{schedule.List, `{}`, "", "task-9 [this session's] old: stored, when it is told to"},
		{schedule.Delete, `{"id":"task-9"}`, "", "will not run again"},
		{schedule.Delete, `{"id":"task-8"}`, "", "no scheduled task \"task-8\""},
		{schedule.Wake, `{"delaySeconds":60,"reason":"the build","prompt":"look"}`, "", "next Mon 2026-05-04 08:01 UTC"},
		{schedule.Wake, `{"delaySeconds":59,"prompt":"look"}`, "60 to 3600", ""},
		{schedule.Wake, `{"delaySeconds":3601,"prompt":"look"}`, "60 to 3600", ""},
		{schedule.Wake, `{"delaySeconds":60}`, "empty", ""},
		{schedule.Wake, `{"stop":true}`, "", "No wake-up is set"},
		{schedule.Trigger, `{"action":"list"}`, "", "local"},
		{schedule.Trigger, `{"action":"create","name":"n","prompt":"look"}`, "", "local, stored"},
		{schedule.Trigger, `{"action":"create","prompt":"look","schedule":"1 * * * * *"}`, "without seconds", ""},
		{schedule.Trigger, `{"action":"update","id":"task-9","prompt":"more"}`, "", "is changed"},
		{schedule.Trigger, `{"action":"run","id":"task-9"}`, "", "at rest"},
		{schedule.Trigger, `{"action":"run"}`, "takes the id", ""},
		{schedule.Trigger, `{"action":"get","id":"task-9"}`, "", "look"},
		{schedule.Trigger, `{"action":"get","id":"no"}`, "", "no scheduled task"},
		{schedule.Trigger, `{"action":"fly"}`, "not list", ""},
	} {
		tools := schedule.Tools(&memory{[]schedule.Task{kept}}, "s", now)
		at := slices.IndexFunc(tools, func(a agent.Tool) bool { return a.Spec().Name == tt.tool })
		got := agent.Run(t.Context(), tools[at], agent.Invocation{Input: read(t, tools[at], tt.input)})
		want := tt.says
		if tt.fault != "" {
			want = tt.fault
		}
		if !strings.Contains(got.Output, want) || tt.fault != "" && !got.IsError {
			t.Errorf("%d %s %s: %+v", i, tt.tool, tt.input, got)
		}
	}
}

// read reads a call as the models of a vendor send it.
func read(t *testing.T, tool agent.Tool, input string) json.RawMessage {
	t.Helper()
	if tool.Spec().Name != schedule.Create || !strings.Contains(input, "command") {
		return json.RawMessage(input)
	}
	return json.RawMessage(strings.NewReplacer(`"schedule"`, `"cron"`, `"command"`, `"prompt"`).Replace(input))
}
