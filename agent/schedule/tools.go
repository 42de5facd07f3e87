package schedule

import (
	"cmp"
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/internal/text"
)

// Store keeps the tasks of a project. It is safe for concurrent use.
type Store interface {
	// Tasks returns all tasks, the oldest first.
	Tasks(context.Context) ([]Task, error)
	// Add plans and keeps a task, to which it gives an id. A wake-up takes the place of the
	// one that its session has. The error is a phrase for the model, also if there are too many.
	Add(context.Context, Task) (Task, error)
	// Change changes a task, which is planned anew; it returns [ErrNoTask] if there is none.
	Change(ctx context.Context, id string, change func(*Task) error) (Task, error)
	// Remove removes a task; it returns [ErrNoTask] if there is none.
	Remove(ctx context.Context, id string) (Task, error)
	// Trigger has a task run as soon as its session is at rest.
	Trigger(ctx context.Context, id string) (Task, error)
}

//go:embed create.md
var createDescription string

//go:embed list.md
var listDescription string

//go:embed delete.md
var deleteDescription string

//go:embed trigger.md
var triggerDescription string

//go:embed wakeup.md
var wakeupDescription string

// The canonical names.
const (
	Create  = "CronCreate"
	Delete  = "CronDelete"
	List    = "CronList"
	Trigger = "RemoteTrigger"
	Wake    = "ScheduleWakeup"
)

type createInput struct {
	Cron      string `json:"cron" jsonschema:"five fields in local time: minute, hour, day of the month, month, day of the week; or @daily, @every 10m"`
	Prompt    string `json:"prompt" jsonschema:"what you are to do then; it has to be clear without this conversation"`
	Name      string `json:"name,omitempty" jsonschema:"a few words for the list that the user sees"`
	Recurring *bool  `json:"recurring,omitempty" jsonschema:"false to run once, the next time that the schedule fits; true by default"`
}

// Validate says in a phrase for the model what is wrong.
func (in createInput) Validate() error {
	if _, err := Parse(in.Cron); err != nil {
		return err
	}
	return in.task("").Check()
}

func (in createInput) task(session string) Task {
	t := Task{Session: session, Kind: Recurring, Name: strings.TrimSpace(in.Name), Schedule: in.Cron, Prompt: in.Prompt}
	if in.Recurring != nil && !*in.Recurring {
		t.Kind = Once
	}
	t.Name = cmp.Or(t.Name, titled(in.Prompt))
	return t
}

// titled makes a name from a prompt.
func titled(prompt string) string {
	return text.Shorten(strings.Join(strings.Fields(strings.Map(printable, prompt)), " "), MaxName/2)
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

type idInput struct {
	ID string `json:"id" jsonschema:"the id of the task, as the list has it"`
}

// The shortest and longest time until a wake-up.
const (
	minWake = time.Minute
	maxWake = time.Hour
)

type wakeInput struct {
	Delay  int    `json:"delaySeconds,omitempty" jsonschema:"in how many seconds, 60 to 3600"`
	Reason string `json:"reason,omitempty" jsonschema:"what you wait for, in a few words that the user sees"`
	Prompt string `json:"prompt,omitempty" jsonschema:"what you are to do then"`
	Stop   bool   `json:"stop,omitempty" jsonschema:"take the wake-up back that you set"`
}

// Validate says in a phrase for the model what is wrong.
func (in wakeInput) Validate() error {
	if in.Stop {
		return nil
	}
	if d := time.Duration(in.Delay) * time.Second; in.Delay > 1<<20 || d < minWake || d > maxWake {
		return fmt.Errorf("delaySeconds is %d: it takes %d to %d; for anything later there is the tool for schedules", in.Delay, int(minWake.Seconds()), int(maxWake.Seconds()))
	}
	return in.task("").Check()
}

func (in wakeInput) task(session string) Task {
	return Task{Session: session, Kind: Wakeup, Name: cmp.Or(strings.TrimSpace(in.Reason), titled(in.Prompt)), Prompt: in.Prompt}
}

type triggerInput struct {
	Action   string `json:"action" jsonschema:"list, get, create, update or run"`
	ID       string `json:"id,omitempty" jsonschema:"of the trigger; not for list and create"`
	Name     string `json:"name,omitempty"`
	Schedule string `json:"schedule,omitempty" jsonschema:"as for schedules; without one it runs when it is told to"`
	Prompt   string `json:"prompt,omitempty"`
}

// Validate says in a phrase for the model what is wrong.
func (in triggerInput) Validate() error {
	switch in.Action {
	case "list":
	case "create":
		if in.Schedule != "" {
			if _, err := Parse(in.Schedule); err != nil {
				return err
			}
		}
		return Task{Name: cmp.Or(in.Name, titled(in.Prompt)), Prompt: in.Prompt}.Check()
	case "get", "update", "run":
		if in.ID == "" {
			return fmt.Errorf("the action %s takes the id of a trigger", in.Action)
		}
	default:
		return fmt.Errorf("action is %.40q, not list, get, create, update or run", in.Action)
	}
	return nil
}

// Tools returns the tools of a session. now returns the time, with the zone of the user.
func Tools(store Store, session string, now func() time.Time) []agent.Tool {
	k := kit{store, session, now}
	spec := func(name, snake, description string, readOnly bool) agent.Spec {
		return agent.Spec{Name: name, Description: strings.TrimSpace(description), ReadOnly: readOnly, Additive: name == Create, Bindings: bindings(name, snake)}
	}
	return []agent.Tool{
		agent.Function(spec(Create, "cron_create", createDescription, false), k.create),
		agent.Function(spec(List, "cron_list", listDescription, true), func(ctx context.Context, _ struct{}) (string, error) { return k.list(ctx) }),
		own{agent.Function(spec(Delete, "cron_delete", deleteDescription, false), k.remove)},
		agent.Function(spec(Trigger, "remote_trigger", triggerDescription, false), k.trigger),
		own{agent.Function(spec(Wake, "schedule_wakeup", wakeupDescription, false), k.wake)},
	}
}

// own marks a tool that concerns only what sessions have made.
type own struct{ agent.Tool }

// Access implements [agent.Accessor].
func (own) Access(context.Context, json.RawMessage) agent.Access { return agent.Access{Own: true} }

// Validate implements [agent.Validator].
func (o own) Validate(input json.RawMessage) error { return o.Tool.(agent.Validator).Validate(input) }

type kit struct {
	store   Store
	session string
	now     func() time.Time
}

// lives ends what is said of every task.
const lives = "It runs here, on this machine, while Atelier is open; times that pass meanwhile are listed as missed and not made up for."

func (k kit) create(ctx context.Context, in createInput) (agent.Result, error) {
	t, err := k.store.Add(ctx, in.task(k.session))
	if err != nil {
		return agent.Result{}, err
	}
	return carded(fmt.Sprintf("%s is set: %s, %s. %s", t.ID, describe(t), t.When(k.now().Location()), lives), t)
}

func (k kit) wake(ctx context.Context, in wakeInput) (agent.Result, error) {
	if in.Stop {
		all, err := k.store.Tasks(ctx)
		if err != nil {
			return agent.Result{}, err
		}
		i := slices.IndexFunc(all, func(t Task) bool { return t.Kind == Wakeup && t.Session == k.session })
		if i < 0 {
			return agent.Result{Output: "No wake-up is set."}, nil
		}
		_, err = k.store.Remove(ctx, all[i].ID)
		return agent.Result{Output: "The wake-up is taken back."}, err
	}
	t := in.task(k.session)
	t.Next = k.now().Add(time.Duration(in.Delay) * time.Second).UnixMilli()
	t, err := k.store.Add(ctx, t)
	if err != nil {
		return agent.Result{}, err
	}
	return carded(fmt.Sprintf("You will be woken: %s. End your turn now. %s", t.When(k.now().Location()), lives), t)
}

func (k kit) list(ctx context.Context) (string, error) {
	all, err := k.store.Tasks(ctx)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "Nothing is scheduled.", nil
	}
	var b strings.Builder
	for _, t := range all {
		whose := "another session's"
		if t.Session == k.session {
			whose = "this session's"
		}
		fmt.Fprintf(&b, "%s [%s] %s: %s, %s\n", t.ID, whose, t.Name, describe(t), t.When(k.now().Location()))
	}
	return b.String() + lives, nil
}

// describe says in words what kind of task it is.
func describe(t Task) string {
	switch t.Kind {
	case Recurring:
		return "again and again by " + t.Schedule
	case Once:
		return "once by " + t.Schedule
	case Wakeup:
		return "a wake-up"
	}
	return "stored"
}

func (k kit) remove(ctx context.Context, in idInput) (string, error) {
	t, err := k.store.Remove(ctx, in.ID)
	if err != nil {
		return "", named(err, in.ID)
	}
	return fmt.Sprintf("%s (%s) is deleted and will not run again.", t.ID, t.Name), nil
}

// named adds the id to an error.
func named(err error, id string) error {
	if errors.Is(err, ErrNoTask) {
		return fmt.Errorf("%w %.60q: the list has the ids", err, id)
	}
	return err
}

func (k kit) trigger(ctx context.Context, in triggerInput) (agent.Result, error) {
	var t Task
	var err error
	did := in.Action
	switch in.Action {
	case "list":
		list, err := k.list(ctx)
		return agent.Result{Output: "These are local; no remote service is set up.\n" + list}, err
	case "create":
		t = Task{Session: k.session, Kind: Stored, Name: cmp.Or(strings.TrimSpace(in.Name), titled(in.Prompt)), Prompt: in.Prompt, Schedule: in.Schedule}
		if in.Schedule != "" {
			t.Kind = Recurring
		}
		t, err = k.store.Add(ctx, t)
		did = "is kept"
	case "update":
		t, err = k.store.Change(ctx, in.ID, func(t *Task) error {
			t.Name, t.Prompt = cmp.Or(strings.TrimSpace(in.Name), t.Name), cmp.Or(in.Prompt, t.Prompt)
			if in.Schedule != "" {
				t.Kind, t.Schedule = Recurring, in.Schedule
			}
			return t.Check()
		})
		did = "is changed"
	case "run":
		t, err = k.store.Trigger(ctx, in.ID)
		did = "runs when its session is at rest"
	default:
		var all []Task
		all, err = k.store.Tasks(ctx)
		i := slices.IndexFunc(all, func(t Task) bool { return t.ID == in.ID })
		if err == nil && i < 0 {
			err = ErrNoTask
		}
		if err == nil {
			t, did = all[i], "reads:\n"+all[i].Prompt+"\n"
		}
	}
	if err != nil {
		return agent.Result{}, named(err, in.ID)
	}
	return carded(fmt.Sprintf("%s (local, %s, %s) %s. No remote service is set up: it runs here, while Atelier is open.", t.ID, describe(t), t.When(k.now().Location()), did), t)
}

// carded is a result whose card shows the task.
func carded(output string, t Task) (agent.Result, error) {
	card, err := json.Marshal(t)
	if err != nil {
		return agent.Result{}, fmt.Errorf("write the task: %w", err)
	}
	return agent.Result{Output: output, Details: &agent.Details{Card: card}}, nil
}

// bindings say how models know a tool: Claude by its canonical name, others in snake_case.
func bindings(name, snake string) map[string][]agent.Binding {
	as := func(called string) agent.Binding {
		b := agent.Called(name, called)
		if name == Create { // OAS-323 has a schedule and a command
			b.Lenience.Synonyms = map[string]string{"schedule": "cron", "command": "prompt", "expression": "cron"}
			b.Lenience.Ignored = []string{"durable"} // all of them are kept
		}
		if name == Wake {
			b.Lenience.Synonyms = map[string]string{"delay_seconds": "delaySeconds", "seconds": "delaySeconds"}
		}
		return b
	}
	return map[string][]agent.Binding{"anthropic": {as(name)}, "openai": {as(snake)}, "gemini": {as(snake)}, "spec": {as(snake)}}
}
