package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/tool"
)

// Limits of what explain reads.
const (
	maxSettings  = 1 << 20 // bytes of a settings file
	maxQuestion  = 1 << 20 // bytes of a line
	maxQuestions = 1_000_000
)

// A question is a line of explain --batch. Without a policy the answer is that
// of the mode "default" in the present folder.
type question struct {
	ID      json.RawMessage    `json:"id"`
	Command string             `json:"command"`
	Policy  *boundary.Settings `json:"policy"`
}

// explanation answers a question.
type explanation struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Verdict agent.Decision  `json:"verdict"`
	Reason  string          `json:"reason"`
}

// explain says what would be allowed, asked about or denied, and why. It runs
// nothing.
func (c *command) explain(args []string) int {
	flags := c.flags("atelier explain [--settings FILE] COMMAND, or atelier explain --batch < QUESTIONS")
	flags.SetInterspersed(false) // what follows the command's first word is its own
	path := flags.String("settings", "", "a JSON file with deniedCommands, allowedCommands, deniedPaths, allowedReadPaths and allowedWritePaths")
	batch := flags.Bool("batch", false, `read questions {"id","command","policy"} as JSON lines, and answer each with {"id","verdict","reason"}`)
	asJSON := flags.Bool("json", false, "print one JSON object")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if *batch == (flags.NArg() > 0) {
		return c.misused(flags, "explain takes a command or --batch")
	}
	folder, home, err := c.places("")
	if err != nil {
		return c.fail(err)
	}
	settings, err := readSettings(*path)
	if err != nil {
		fmt.Fprintf(c.err, "The settings in %s cannot be used: %v\nWith them, every command would be denied.\n", *path, err)
		return exitFailed
	}
	judge, err := newJudge(folder, home, c.getenv("HOME"))
	if err != nil {
		return c.fail(err)
	}
	if *batch {
		err = judge.batch(c, settings)
	} else {
		err = judge.print(c.out, strings.Join(flags.Args(), " "), settings, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(c.err, err)
		return exitFailed
	}
	return exitDone
}

// readSettings reads a settings file; without one the settings are nil. The
// lists stand in it or in its member "sandbox".
func readSettings(path string) (*boundary.Settings, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxSettings+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSettings {
		return nil, fmt.Errorf("it is longer than %d bytes", maxSettings)
	}
	var s struct {
		boundary.Settings
		Sandbox *boundary.Settings `json:"sandbox"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	if s.Sandbox != nil {
		return s.Sandbox, nil
	}
	return &s.Settings, nil
}

// judge answers questions about commands in one folder.
type judge struct {
	folder, user string
	bash         agent.Accessor
	gate         agent.Gate
}

func newJudge(folder, home, user string) (*judge, error) {
	local, err := env.NewLocal(folder)
	if err != nil {
		return nil, err
	}
	gate, err := permission.New(folder, permission.Rules{Own: []string{home}})
	if err != nil {
		return nil, err
	}
	for _, t := range tool.Builtin(local, tool.Options{}) {
		if a, ok := t.(agent.Accessor); ok && t.Spec().Name == "Bash" {
			return &judge{folder, user, a, gate}, nil
		}
	}
	return nil, errors.New("there is no tool for commands")
}

// verdict is that of the lists, or without lists that of the mode "default".
func (j *judge) verdict(command string, s *boundary.Settings) explanation {
	if s != nil {
		v := boundary.New(*s, j.folder, j.user).Command(command, j.folder)
		if v.Decision == agent.Allow {
			v.Reason = "Every program and path of it is allowed."
		}
		return explanation{Verdict: v.Decision, Reason: v.Reason}
	}
	input, err := json.Marshal(tool.BashInput{Command: command})
	if err != nil {
		return explanation{Verdict: agent.Deny, Reason: err.Error()}
	}
	v := j.gate.Decide(agent.GateCall{Tool: "Bash", Input: input, Access: j.bash.Access(input), Mode: agent.ModeDefault})
	return explanation{Verdict: v.Decision, Reason: v.Reason}
}

func (j *judge) print(out io.Writer, command string, s *boundary.Settings, asJSON bool) error {
	answer := j.verdict(command, s)
	if asJSON {
		return writeJSON(out, answer)
	}
	_, err := fmt.Fprintf(out, "%s: %s\n", answer.Verdict, answer.Reason)
	return err
}

// batch answers the questions on the standard input. A line that is not a
// question is answered with "deny". settings hold for questions without a
// policy.
func (j *judge) batch(c *command, settings *boundary.Settings) error {
	in := bufio.NewReaderSize(c.in, maxQuestion)
	for n := 1; c.ctx.Err() == nil; n++ {
		line, err := in.ReadSlice('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if n > maxQuestions {
			return fmt.Errorf("only the first %d questions were answered", maxQuestions)
		}
		var answer explanation
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			answer = explanation{Verdict: agent.Deny, Reason: fmt.Sprintf("Line %d is longer than %d bytes.", n, maxQuestion)}
			err = skipLine(in)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			answer = j.answer(line, settings, n)
		}
		if failed := writeJSON(c.out, answer); failed != nil {
			return failed
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return c.ctx.Err()
}

func (j *judge) answer(line []byte, settings *boundary.Settings, n int) explanation {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return explanation{Verdict: agent.Deny, Reason: fmt.Sprintf("Line %d is not a question: %v.", n, err)}
	}
	if q.Policy == nil {
		q.Policy = settings
	}
	answer := j.verdict(q.Command, q.Policy)
	answer.ID = q.ID
	return answer
}

// skipLine reads to the end of a line.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
