package blame

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

// files keeps contents by their hashes.
type files map[string]string

func (f files) keep(text string) agent.FileVersion {
	sum := sha256.Sum256([]byte(text))
	v := agent.FileVersion{Hash: hex.EncodeToString(sum[:]), Size: int64(len(text)), Kind: agent.PlainFile}
	f[v.Hash] = text
	return v
}

func (f files) lose(text string) agent.FileVersion {
	v := f.keep(text)
	delete(f, v.Hash)
	v.Unkept = agent.UnkeptDropped
	return v
}

func (f files) contents(_ context.Context, v agent.FileVersion) ([]byte, error) {
	text, ok := f[v.Hash]
	if !ok {
		return nil, errors.New("not kept")
	}
	return []byte(text), nil
}

func authors(t *testing.T, f files, present string, steps ...Step) string {
	t.Helper()
	a, err := Of(t.Context(), steps, []byte(present), f.contents)
	if err != nil {
		t.Fatal(err)
	}
	return words(a.Lines)
}

func words(lines []Line) string {
	var out []string
	for _, l := range lines {
		word := fmt.Sprint(l.Author)
		if l.Unsure {
			word += "?"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestWhoWroteALine(t *testing.T) {
	t.Parallel()
	const e, o, u = "-1", "-2", "-3" // earlier, outside, unknown
	f := files{}
	none := agent.FileVersion{}
	link := agent.FileVersion{Hash: f.keep("a\n").Hash, Kind: agent.SymbolicLink}
	step := func(id, before, after string) Step { return Step{ID: id, Before: f.keep(before), After: f.keep(after)} }
	for name, tt := range map[string]struct {
		present, want string
		steps         []Step
	}{
		"nothing is recorded":       {"a\nb\n", e + " " + e, nil},
		"an empty file":             {"", "", []Step{step("x", "a\n", "")}},
		"a new file":                {"a\nb\n", "0 0", []Step{{ID: "x", After: f.keep("a\nb\n")}}},
		"an edit":                   {"a\nB\nc\n", e + " 0 " + e, []Step{step("x", "a\nb\nc\n", "a\nB\nc\n")}},
		"two edits":                 {"A\nB\n", "1 0", []Step{step("x", "a\nb\n", "a\nB\n"), step("y", "a\nB\n", "A\nB\n")}},
		"a change after":            {"a\nB\nmine\n", e + " 0 " + o, []Step{step("x", "a\nb\n", "a\nB\n")}},
		"a change between":          {"a\nB\nmine\nz\n", e + " 0 " + o + " 1", []Step{step("x", "a\nb\n", "a\nB\n"), step("y", "a\nB\nmine\n", "a\nB\nmine\nz\n")}},
		"the end of the last line":  {"a\nb", e + " 0", []Step{step("x", "a\nb\n", "a\nb")}},
		"other line endings":        {"a\r\n", "0", []Step{step("x", "a\n", "a\r\n")}},
		"branches there and back":   {"a\nB\n", e + " 0", []Step{step("x", "a\nb\n", "a\nB\n"), step("y", "other\n", "others\n")}},
		"deleted and written again": {"a\n", "1", []Step{{ID: "x", Before: f.keep("a\n")}, {ID: "y", After: f.keep("a\n")}}},
		"a link in between":         {"a\n", "1", []Step{{ID: "x", Before: f.keep("a\n"), After: link}, {ID: "y", Before: link, After: f.keep("a\n")}}},
		"only the mode":             {"a\n", e, []Step{{ID: "x", Before: f.keep("a\n"), After: func() agent.FileVersion { v := f.keep("a\n"); v.Kind = agent.ExecutableFile; return v }()}}},
		"an undone edit":            {"a\nb\n", e + " " + e, []Step{step("x", "a\nb\n", "a\nB\n"), {ID: "u", Undone: []string{"x"}, Before: f.keep("a\nB\n"), After: f.keep("a\nb\n")}}},
		"a redone edit": {"a\nB\n", e + " 0", []Step{
			step("x", "a\nb\n", "a\nB\n"), {ID: "u", Undone: []string{"x"}, Before: f.keep("a\nB\n"), After: f.keep("a\nb\n")},
			{ID: "r", Redone: "u", Before: f.keep("a\nb\n"), After: f.keep("a\nB\n")},
		}},
		"an undone edit beside a change": {"a\nb\nmine\n", e + " 0 " + o, []Step{
			{ID: "w", Before: f.keep("a\n"), After: f.keep("a\nb\n")}, step("x", "a\nb\n", "a\nB\n"),
			{ID: "u", Undone: []string{"x"}, Before: f.keep("a\nB\nmine\n"), After: f.keep("a\nb\nmine\n")},
		}},
		"an undone deletion": {"a\nB\n", e + " 0", []Step{
			step("x", "a\nb\n", "a\nB\n"), {ID: "y", Before: f.keep("a\nB\n")}, {ID: "u", Undone: []string{"y"}, After: f.keep("a\nB\n")},
		}},
		"the same text by another": { // what was undone is what stood before x, not what w wrote
			"b\n", e, []Step{
				step("x", "b\n", "c\n"), step("w", "c\n", "b\n"), step("y", "b\n", "d\n"),
				{ID: "u", Undone: []string{"y", "w", "x"}, Before: f.keep("d\n"), After: f.keep("b\n")},
			},
		},
		"one version that was not kept": {"a\nK\nN\n", e + " 1? 1?", []Step{
			{ID: "x", Before: f.keep("a\n"), After: f.lose("a\nL\n")}, {ID: "y", Before: f.lose("a\nL\n"), After: f.keep("a\nK\nN\n")},
		}},
		"an end that was not kept":      {"a\nM\n", e + " 0?", []Step{{ID: "x", Before: f.keep("a\n"), After: f.lose("a\nO\n")}}},
		"not kept, but unchanged since": {"a\nP\n", e + " 0", []Step{{ID: "x", Before: f.keep("a\n"), After: f.lose("a\nP\n")}}},
		"no beginning":                  {"a\nQ\nr\n", u + " " + u + " 1", []Step{{ID: "x", Before: f.lose("?\n"), After: f.keep("a\nQ\n")}, step("y", "a\nQ\n", "a\nQ\nr\n")}},
		"too large to keep":             {"a\n", e, []Step{{ID: "x", Before: f.keep("a\n"), After: none}, {ID: "u", Undone: []string{"x"}, After: f.keep("a\n")}}},
	} {
		if got := authors(t, f, tt.present, tt.steps...); got != tt.want {
			t.Errorf("%s: the lines are by %s, want %s", name, got, tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	f := files{}
	if _, err := Of(t.Context(), nil, []byte(strings.Repeat("\n", MaxLines+1)), f.contents); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many lines: %v", err)
	}
	if _, err := Of(t.Context(), nil, make([]byte, MaxSize+1), f.contents); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many bytes: %v", err)
	}
	var steps []Step
	for i := range MaxSteps + 10 {
		steps = append(steps, Step{ID: fmt.Sprint(i), Before: f.keep(fmt.Sprint(i, "\n")), After: f.keep(fmt.Sprint(i+1, "\n"))})
	}
	present := fmt.Sprint(MaxSteps+10, "\n")
	a, err := Of(t.Context(), steps, []byte(present), f.contents)
	if want := (Answer{Lines: []Line{{Author: MaxSteps + 9}}, Skipped: 10}); err != nil || !cmp.Equal(a, want) {
		t.Errorf("%v, %v, want %v", a, err, want)
	}
	for i := range steps {
		steps[i].Before.Size, steps[i].After.Size = MaxSize, MaxSize
	}
	if a, err = Of(t.Context(), steps, []byte(present), f.contents); err != nil || len(steps)-a.Skipped != maxBytes/MaxSize {
		t.Errorf("%d steps of large versions are left out, %v", a.Skipped, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	reads := 0
	_, err = Of(ctx, steps[:20], []byte(present), func(ctx context.Context, v agent.FileVersion) ([]byte, error) {
		if reads++; reads == 3 {
			cancel(enough)
		}
		return f.contents(ctx, v)
	})
	if !errors.Is(err, enough) || reads > 4 {
		t.Errorf("%v after %d versions were read", err, reads)
	}
}

// Contents that are not those of the version count as not kept.
func TestDamagedContents(t *testing.T) {
	t.Parallel()
	f := files{}
	steps := []Step{{ID: "x", Before: f.keep("a\n"), After: f.keep("a\nb\n")}}
	f[steps[0].After.Hash] = "mine\n"
	if got, want := authors(t, f, "a\nb\nc\n", steps...), "-1 0? 0?"; got != want {
		t.Errorf("the lines are by %s, want %s", got, want)
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	f := files{}
	one, two := f.keep("1"), f.keep("2")
	for _, tt := range []struct {
		files []agent.FileRecord
		want  string
	}{
		{[]agent.FileRecord{{Path: "old", Before: one}, {Path: "new", After: one}}, "old"},
		{[]agent.FileRecord{{Path: "old", Before: two}, {Path: "new", After: one}}, ""},
		{[]agent.FileRecord{{Path: "old", Before: one, After: one}, {Path: "new", After: one}}, ""},
		{[]agent.FileRecord{{Path: "old", Before: one}, {Path: "older", Before: one}, {Path: "new", After: one}}, ""},
		{[]agent.FileRecord{{Path: "old", Before: one}, {Path: "new", Before: two, After: one}}, ""},
		{[]agent.FileRecord{{Path: "old", Before: one}}, ""},
	} {
		if got, _ := Source("new", tt.files); got != tt.want {
			t.Errorf("Source(%v) = %q, want %q", tt.files, got, tt.want)
		}
	}
}

// line is a line of the oracle, which keeps lines as things, each with its author.
type line struct {
	text string
	by   Author
}

// history makes random steps on lines, each of which is written once, so that it is
// known without any comparison who wrote which.
type history struct {
	random *rand.Rand
	files  files
	lines  []line
	steps  []Step
	// before and after are the lines around each step.
	before, after [][]line
	written       int
}

func textOfLines(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// write replaces some lines by new ones of an author.
func (h *history) write(by Author) {
	for range 1 + h.random.IntN(3) {
		from := h.random.IntN(len(h.lines) + 1)
		to := min(len(h.lines), from+h.random.IntN(3))
		var fresh []line
		for range h.random.IntN(4) {
			h.written++
			fresh = append(fresh, line{fmt.Sprintf("line %d\n", h.written), by})
		}
		h.lines = slices.Concat(h.lines[:from], fresh, h.lines[to:])
	}
}

// step records what do does.
func (h *history) step(s Step, do func()) {
	before := h.lines
	s.ID, s.Before = fmt.Sprint(len(h.steps)), h.files.keep(textOfLines(h.lines))
	do()
	s.After = h.files.keep(textOfLines(h.lines))
	h.steps, h.before, h.after = append(h.steps, s), append(h.before, before), append(h.after, h.lines)
}

// takeOut takes a step's change out of the lines, as a three-way merge does: what it
// wrote goes, and what it removed comes back after the line that it stood after.
func (h *history) takeOut(i int) {
	before, after := h.before[i], h.after[i]
	var now []line
	for _, l := range h.lines {
		if !slices.Contains(after, l) || slices.Contains(before, l) {
			now = append(now, l)
		}
	}
	for at, l := range before {
		if slices.Contains(after, l) || slices.Contains(now, l) {
			continue
		}
		place := 0
		for _, earlier := range slices.Backward(before[:at]) {
			if p := slices.Index(now, earlier); p >= 0 {
				place = p + 1
				break
			}
		}
		now = slices.Insert(now, place, l)
	}
	h.lines = now
}

func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		h := history{random: rand.New(rand.NewPCG(seed, 7)), files: files{}}
		h.write(Earlier)
		for range h.random.IntN(12) {
			by := Author(len(h.steps))
			switch n := len(h.steps); h.random.IntN(6) {
			case 0:
				if n > 0 {
					h.write(Outside)
				}
			case 1:
				if n > 0 {
					i := h.random.IntN(n)
					h.step(Step{Undone: []string{fmt.Sprint(i)}}, func() { h.takeOut(i) })
				}
			case 2:
				if n > 0 && len(h.steps[n-1].Undone) > 0 {
					h.step(Step{Redone: fmt.Sprint(n - 1)}, func() { h.takeOut(n - 1) })
				}
			default:
				h.step(Step{}, func() { h.write(by) })
			}
		}
		var want []Line
		for _, l := range h.lines {
			want = append(want, Line{Author: l.by})
		}
		if got := authors(t, h.files, textOfLines(h.lines), h.steps...); got != words(want) {
			t.Fatalf("seed %d: the lines are by %s, want %s", seed, got, words(want))
		}
		h.loseSome(t, want)
	}
}

// loseSome takes contents away: what is then said without doubt is still right,
// except that a line of several authors' may be anybody's of whom one is named.
func (h *history) loseSome(t *testing.T, want []Line) {
	t.Helper()
	for hash := range h.files {
		if h.random.IntN(3) == 0 {
			delete(h.files, hash)
		}
	}
	got, err := Of(t.Context(), h.steps, []byte(textOfLines(h.lines)), h.files.contents)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range got.Lines {
		if !l.Unsure && l.Author != Unknown && l != want[i] {
			t.Fatalf("line %d is said to be by %v, but is by %v", i+1, l, want[i])
		}
	}
}

// For any texts, every line has an author, and each line of a step is in the
// text that the step left.
func FuzzOf(f *testing.F) {
	f.Add("a\nb\n", "a\nc", "x", true)
	f.Add("", "\n\n", "\n", false)
	f.Fuzz(func(t *testing.T, one, two, three string, undo bool) {
		kept := files{}
		steps := []Step{{ID: "1", Before: kept.keep(one), After: kept.keep(two)}, {ID: "2", Before: kept.keep(two), After: kept.keep(three)}}
		present := three
		if undo {
			steps = append(steps, Step{ID: "3", Undone: []string{"2"}, Before: kept.keep(three), After: kept.keep(two)})
			present = two
		}
		a, err := Of(t.Context(), steps, []byte(present), kept.contents)
		if errors.Is(err, ErrTooLarge) {
			return
		}
		lines := slices.Collect(strings.Lines(present))
		if err != nil || len(a.Lines) != len(lines) {
			t.Fatalf("%v, %v of %d lines", err, a, len(lines))
		}
		for i, l := range a.Lines {
			stands := map[Author]string{Earlier: one, 0: two, 1: three}[l.Author]
			if !slices.Contains(slices.Collect(strings.Lines(stands)), lines[i]) {
				t.Errorf("line %q is said to be by %v", lines[i], l)
			}
		}
	})
}

func BenchmarkOf(b *testing.B) {
	f := files{}
	lines := make([]string, 5000)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of a file with some text\n", i)
	}
	var steps []Step
	for i := range 200 {
		before := f.keep(strings.Join(lines, ""))
		lines[i*23%len(lines)], lines[i*7%len(lines)] = fmt.Sprintf("by %d\n", i), fmt.Sprintf("also by %d\n", i)
		steps = append(steps, Step{ID: fmt.Sprint(i), Before: before, After: f.keep(strings.Join(lines, ""))})
	}
	present := []byte(strings.Join(lines, ""))
	for b.Loop() {
		if _, err := Of(b.Context(), steps, present, f.contents); err != nil {
			b.Fatal(err)
		}
	}
}
