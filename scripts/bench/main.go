// Command bench runs `atelier run` against a scripted model server and prints
// Atelier's own costs: the time between an answer's end and the next request,
// the start, the CPU and the memory. Durable commits are included.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm/llmtest"
)

func main() {
	program := flag.String("program", "build/bin/atelier-headless", "the program to measure")
	runs := flag.Int("runs", 5, "how often each figure is taken; the median is printed")
	only := flag.String("only", "", "takes the rows whose names have this text")
	flag.Parse()
	if err := measure(*program, *only, *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure prints the figures of a program whose names have a text.
func measure(program, only string, runs int) error {
	dir, err := os.MkdirTemp("", "atelier-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	installed := filepath.Join(dir, filepath.Base(program))
	if err := install(program, installed); err != nil {
		return err
	}
	fmt.Printf("%-38s", "")
	for _, f := range formats {
		fmt.Printf("%14s", f.provider)
	}
	fmt.Println()
	for _, c := range cases {
		if !strings.Contains(c.name, only) {
			continue
		}
		fmt.Printf("%-38s", c.name)
		for _, f := range formats {
			figure, err := c.measure(bench{program: installed, runs: runs, format: f})
			if err != nil {
				return err
			}
			fmt.Printf("%14s", figure)
		}
		fmt.Println()
	}
	return nil
}

// install copies a program in pieces, like cp and packages do. The system maps
// far more of a file into memory that the linker has just written in one go
// (61-64 MB instead of 43-45 MB at the peak), which is not typical of an
// installed program.
func install(program, path string) error {
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	// The plain interfaces make io.Copy write in small pieces.
	_, err = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	return errors.Join(err, to.Close())
}

// format is a wire format: the address of its server, and how that writes a
// round.
type format struct {
	provider string
	base     func(*llmtest.Server) string
	stream   func(r llmtest.Round, n int) string
}

func versioned(s *llmtest.Server) string { return s.URL }
func root(s *llmtest.Server) string      { return s.Root }

var formats = []format{
	{"openai", versioned, llmtest.ResponsesStream},
	{"anthropic", root, llmtest.MessagesStream},
	{"gemini", root, llmtest.GenerateStream},
	{"compat", versioned, llmtest.ChatStream},
}

// bench is one program measured over one wire format.
type bench struct {
	program string
	runs    int
	format  format
	files   int    // of the project, besides its own
	output  string // how the program prints its events; empty means stream-json
	// settings is the user's settings file; empty means none.
	settings string
}

// run is the measurement of one run of the program.
type run struct {
	first time.Duration   // from the start to the first request
	rest  time.Duration   // from the first request to the end of the program
	gaps  []time.Duration // from the end of each answer to the next request
	cpu   time.Duration
	peak  int64 // of resident memory, in KiB
	spent []sample
}

// sample is how much CPU a program had used when it had made a number of
// requests.
type sample struct {
	requests int
	cpu      time.Duration
}

type benchCase struct {
	name    string
	measure func(bench) (string, error)
}

var cases = []benchCase{
	{"start to first request", func(b bench) (string, error) {
		return b.median(say("hi"), func(r run) float64 { return ms(r.first) }, "%.1f ms")
	}},
	{"prompt to first request", func(b bench) (string, error) { return b.firstPrompts(0) }},
	{"the same with ten servers", func(b bench) (string, error) { return b.firstPrompts(10) }},
	{"next request after a read", func(b bench) (string, error) {
		return b.median(rounds(50, read), func(r run) float64 { return ms(middle(r.gaps)) }, "%.2f ms")
	}},
	{"next request after a command", func(b bench) (string, error) {
		return b.median(rounds(30, command), func(r run) float64 { return ms(middle(r.gaps)) }, "%.2f ms")
	}},
	{"what the sandbox adds to that", func(b bench) (string, error) { return b.confined(rounds(30, command)) }},
	{"next request after 10 MB of output", func(b bench) (string, error) {
		return b.median(rounds(5, flood), func(r run) float64 { return ms(middle(r.gaps)) }, "%.0f ms")
	}},
	{"next request after a change", func(b bench) (string, error) {
		return b.median(rounds(30, change), func(r run) float64 { return ms(middle(r.gaps)) }, "%.2f ms")
	}},
	{"the same among 10,000 files", func(b bench) (string, error) {
		b.files = 10_000
		script := append([]llmtest.Round{settle}, rounds(60, change)...)
		return b.once(script, func(r run) string { return fmt.Sprintf("%.2f ms", ms(middle(r.gaps))) })
	}},
	{"next request after 16 reads", func(b bench) (string, error) {
		return b.median(rounds(20, sixteen), func(r run) float64 { return ms(middle(r.gaps)) }, "%.2f ms")
	}},
	{"an answer of 20,000 deltas, as text", func(b bench) (string, error) {
		b.output = "text"
		return b.deltas()
	}},
	{"the same as events", bench.deltas},
	{"500 reads: last 50 against first 50", func(b bench) (string, error) {
		return b.once(rounds(500, read), func(r run) string {
			n := len(r.gaps)
			return fmt.Sprintf("%.2f×", ms(middle(r.gaps[n-50:]))/ms(middle(r.gaps[:50])))
		})
	}},
	{"500 reads: CPU a turn", func(b bench) (string, error) {
		return b.once(rounds(500, read), func(r run) string { return fmt.Sprintf("%.2f ms", ms(r.cpu)/500) })
	}},
	{"500 reads: peak memory", func(b bench) (string, error) {
		return b.once(rounds(500, read), func(r run) string { return fmt.Sprintf("%d MB", r.peak>>10) })
	}},
	{"2,500 reads: CPU, last against first", func(b bench) (string, error) {
		return b.median(rounds(2500, read), func(r run) float64 { return r.turn(2250, 2500) / r.turn(50, 300) }, "%.2f×")
	}},
}

// turn returns the CPU that a turn took between two requests, in milliseconds.
func (r run) turn(from, to int) float64 {
	at := func(n int) sample {
		i, _ := slices.BinarySearchFunc(r.spent, n, func(s sample, n int) int { return cmp.Compare(s.requests, n) })
		return r.spent[min(i, len(r.spent)-1)]
	}
	a, b := at(from), at(to)
	return ms(b.cpu-a.cpu) / float64(max(1, b.requests-a.requests))
}

func say(text string) []llmtest.Round { return []llmtest.Round{{Text: text}} }

func rounds(n int, round llmtest.Round) []llmtest.Round {
	return append(slices.Repeat([]llmtest.Round{round}, n), llmtest.Round{Text: "Done."})
}

var (
	read    = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]string{"file_path": "go.mod"})}}
	command = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "true"})}}
	flood   = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "yes 'a line of a log' | head -c 10000000"})}}
	change  = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "date >> changed"})}}
	settle  = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "sleep 4; date >> changed"})}}
	sixteen = llmtest.Round{Calls: slices.Repeat(read.Calls, 16)}
)

// deltas measures an answer in many pieces. It is sent as fast as the connection
// accepts it, because the reader is measured.
func (b bench) deltas() (string, error) {
	body := b.format.stream(llmtest.Round{Text: strings.Repeat("word ", 20_000)}, 1)
	return b.median([]llmtest.Round{{Body: body}}, func(r run) float64 { return ms(r.rest) }, "%.0f ms")
}

// median measures the given number of times and prints the median.
func (b bench) median(script []llmtest.Round, figure func(run) float64, layout string) (string, error) {
	var all []float64
	for range b.runs {
		r, err := b.play(script)
		if err != nil {
			return "", err
		}
		all = append(all, figure(r))
	}
	return fmt.Sprintf(layout, middle(all)), nil
}

func (b bench) once(script []llmtest.Round, figure func(run) string) (string, error) {
	r, err := b.play(script)
	if err != nil {
		return "", err
	}
	return figure(r), nil
}

// fill makes files in a project, 20 in each of its folders.
func fill(project string, files int) error {
	for i := range files {
		dir := filepath.Join(project, fmt.Sprint("part", i%50), fmt.Sprint("folder", i/50%10))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		text := fmt.Appendf(nil, "package folder\n\n// F%d is one of many.\nfunc F%[1]d() int { return %[1]d }\n", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file", i, ".go")), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// project makes a project in a new folder, which the caller removes.
func (b bench) project() (dir, project string, err error) {
	if dir, err = os.MkdirTemp("", "atelier-bench-*"); err != nil {
		return "", "", err
	}
	project = filepath.Join(dir, "project")
	err = os.Mkdir(project, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(project, "go.mod"), []byte("module bench\n\ngo 1.26\n"), 0o600)
	}
	if err == nil {
		err = fill(project, b.files)
	}
	if err == nil && b.settings != "" {
		own := filepath.Join(dir, ".agent")
		err = errors.Join(os.Mkdir(own, 0o700), os.WriteFile(filepath.Join(own, "settings.json"), []byte(b.settings), 0o600))
	}
	if err != nil {
		_ = os.RemoveAll(dir)
	}
	return dir, project, err
}

// play runs the program once against the script.
func (b bench) play(script []llmtest.Round) (run, error) {
	server := llmtest.NewServer(script...)
	defer server.Close()
	server.SkipBodies = true
	dir, project, err := b.project()
	if err != nil {
		return run{}, fmt.Errorf("make a project: %w", err)
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(b.program, "run", "-C", project, "--model", b.format.provider+"/"+llmtest.ModelID,
		"--permission-mode", "bypassPermissions", "--max-turns", "100000", "--output", cmp.Or(b.output, "stream-json"), "go")
	cmd.Stdout = io.Discard // through a pipe
	cmd.Env = b.environ(dir, server)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return run{}, fmt.Errorf("start %s: %w", b.program, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var r run
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				return run{}, fmt.Errorf("run %s: %w", b.program, err)
			}
			running = false
		case <-time.After(20 * time.Millisecond):
			r.peak = max(r.peak, resident(cmd.Process.Pid))
			if cpu := used(cmd.Process.Pid); cpu > 0 { // else it has just ended
				r.spent = append(r.spent, sample{len(server.Requests()), cpu})
			}
		}
	}
	end := time.Now()
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.first, r.rest, r.gaps = figures(server, begin, end)
	return r, nil
}

// environ returns the environment of a program whose home is dir.
func (b bench) environ(dir string, server *llmtest.Server) []string {
	variable := strings.ToUpper(b.format.provider)
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ATELIER_HOME=" + filepath.Join(dir, "home"),
		variable + "_BASE_URL=" + b.format.base(server), variable + "_API_KEY=sk-bench-0123456789",
	}
}

// resident returns the most memory that a process has held so far, in KiB. The
// system's figure at its end is at least as large as this program's own memory,
// because this program started it.
func resident(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n
		}
	}
	return 0
}

// tick is the unit of the system's CPU times.
const tick = 10 * time.Millisecond

// used returns the CPU that a process has used so far.
func used(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may hold spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// figures computes the figures from what the server saw: when requests came and
// answers were sent.
func figures(server *llmtest.Server, begin, end time.Time) (first, rest time.Duration, gaps []time.Duration) {
	var last llmtest.Request
	for _, r := range server.Requests() {
		switch {
		case r.Answered.IsZero(): // it asked for the models
			continue
		case last.Answered.IsZero():
			first, rest = r.Came.Sub(begin), end.Sub(r.Came)
		default:
			gaps = append(gaps, r.Came.Sub(last.Answered))
		}
		last = r
	}
	return first, rest, gaps
}

func middle[T cmp.Ordered](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
