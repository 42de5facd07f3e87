package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// MinEvery is the shortest time between two runs.
const MinEvery = time.Minute

// maxSpec limits a schedule in bytes. Longer ones are lists that nobody reads.
const maxSpec = 200

// Spec says when a task runs. The zero value never does.
type Spec struct {
	text   string
	parsed cron.Schedule
	// daily says that the hour is fixed, so that the clock on the wall counts.
	daily bool
}

// Parse reads five fields (minute, hour, day of the month, month, day of the week) or a word
// such as @daily or "@every 10m". The error is a phrase for the model.
func Parse(text string) (spec Spec, err error) {
	text = strings.Join(strings.Fields(text), " ")
	fields := strings.Fields(text)
	switch {
	case text == "":
		return spec, errors.New("the schedule is empty: it takes five fields, such as 0 9 * * 1-5")
	case len(text) > maxSpec:
		return spec, fmt.Errorf("the schedule is longer than %d characters", maxSpec)
	case strings.Contains(strings.ToUpper(text), "TZ="):
		return spec, errors.New("a schedule follows the clock of this machine: leave out the time zone")
	case strings.HasPrefix(text, "@"):
	case len(fields) == 6 || len(fields) == 7:
		return spec, fmt.Errorf("the schedule has %d fields: it takes five, without seconds (minute, hour, day of the month, month, day of the week)", len(fields))
	case len(fields) != 5:
		return spec, fmt.Errorf("the schedule has %d fields, not five (minute, hour, day of the month, month, day of the week)", len(fields))
	}
	defer func() { // the parser is not ours
		if p := recover(); p != nil {
			spec, err = Spec{}, fmt.Errorf("the schedule %q cannot be read", text)
		}
	}()
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	parsed, err := parser.Parse(text)
	if err != nil {
		return spec, fmt.Errorf("the schedule %q cannot be read: %w", text, err)
	}
	spec = Spec{text: text, parsed: parsed, daily: !strings.HasPrefix(text, "@every") && text != "@hourly" && (strings.HasPrefix(text, "@") || !strings.HasPrefix(fields[1], "*"))}
	if every, ok := parsed.(cron.ConstantDelaySchedule); ok && every.Delay < MinEvery {
		return Spec{}, fmt.Errorf("the schedule %q is too dense: a task runs once a minute at most", text)
	}
	if spec.Next(time.Now()).IsZero() {
		return Spec{}, fmt.Errorf("the schedule %q never occurs, as there is no such day", text)
	}
	return spec, nil
}

// String returns the schedule as it was given, with single spaces.
func (s Spec) String() string { return s.text }

// Next returns the first time after another at which the task runs, in the same location;
// the zero time if there is none.
func (s Spec) Next(after time.Time) time.Time {
	if s.parsed == nil {
		return time.Time{}
	}
	if !s.daily {
		return s.parsed.Next(after)
	}
	// The clock on the wall, as if no zone changed it.
	wall := time.Date(after.Year(), after.Month(), after.Day(), after.Hour(), after.Minute(), after.Second(), after.Nanosecond(), time.UTC)
	for range 200 { // in an hour that comes again, all of it has passed
		if wall = s.parsed.Next(wall); wall.IsZero() {
			return wall
		}
		at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, after.Location())
		if first := at.Add(-time.Hour); first.Hour() == at.Hour() && first.Day() == at.Day() {
			at = first // of the hour that comes twice
		}
		if at.After(after) {
			return at
		}
	}
	return time.Time{}
}

// Between counts the runs after one time up to another, at most limit.
func (s Spec) Between(from, to time.Time, limit int) (all []time.Time) {
	for at := s.Next(from); !at.IsZero() && !at.After(to) && len(all) < limit; at = s.Next(at) {
		all = append(all, at)
	}
	return all
}
