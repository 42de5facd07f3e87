package profile

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

// The default share of a command's output for OpenAI's models, and the unit
// that they count it in.
const (
	defaultOutputTokens = 7_500 // the 30,000 characters of every command (LOOP-39)
	maxOutputTokens     = 20_000
	bytesPerToken       = 4
)

type openaiExec struct {
	Cmd             commandLine `json:"cmd" also:"command,script" jsonschema:"the command line to run"`
	Workdir         string      `json:"workdir,omitempty" also:"cwd,dir_path,directory" jsonschema:"the directory to run it in, the working directory if left out"`
	TTY             bool        `json:"tty,omitempty" jsonschema:"run it on a terminal, so that write_stdin can type to it; without one if left out"`
	YieldTimeMs     int64       `json:"yield_time_ms,omitempty" jsonschema:"how many milliseconds to wait before the call returns, 250 to 30000, 10000 if left out"`
	MaxOutputTokens int64       `json:"max_output_tokens,omitempty" jsonschema:"how many tokens of output to return, 7500 if left out, at most 20000"`
	TimeoutMs       int64       `json:"timeout_ms,omitempty" also:"timeout"`
	Unconfined      bool        `json:"unconfined,omitempty" also:"with_escalated_permissions" jsonschema:"ask the user to let this command run unconfined, after it failed because commands are confined here"`
}

// own converts to a command that keeps running when its call returns. A yield
// time is not a time limit, so the user's limit for commands does not apply to
// it.
func (e openaiExec) own() tool.BashInput {
	return tool.BashInput{
		Command: string(e.Cmd), Workdir: e.Workdir, TTY: e.TTY, Timeout: e.TimeoutMs,
		YieldTimeMs: within(cmp.Or(e.YieldTimeMs, 10_000), 250, 30_000), MaxOutputTokens: e.MaxOutputTokens, Unconfined: e.Unconfined,
	}
}

type openaiWriteStdin struct {
	SessionID       int64  `json:"session_id" also:"id,task_id,pid" jsonschema:"the session ID that exec_command gave"`
	Chars           string `json:"chars,omitempty" also:"input,text" jsonschema:"what to type, line ends included; nothing to only wait"`
	YieldTimeMs     int64  `json:"yield_time_ms,omitempty" jsonschema:"how many milliseconds to wait before the call returns: 250 to 30000 after typing, 250 if left out; 5000 to 300000 when only waiting"`
	MaxOutputTokens int64  `json:"max_output_tokens,omitempty" jsonschema:"how many tokens of output to return, 7500 if left out, at most 20000"`
}

func (w openaiWriteStdin) own() tool.WriteStdinInput {
	wait := within(cmp.Or(w.YieldTimeMs, 250), 250, 30_000)
	if w.Chars == "" {
		wait = within(w.YieldTimeMs, 5_000, 300_000)
	}
	return tool.WriteStdinInput{
		ID: strconv.FormatInt(w.SessionID, 10), Chars: w.Chars, YieldTimeMs: wait, MaxOutputTokens: w.MaxOutputTokens,
	}
}

func within(n, least, most int64) int64 { return min(max(n, least), most) }

// outputTokens returns how many tokens a call gets that asked for n.
func outputTokens(n int64) int64 {
	if n <= 0 {
		return defaultOutputTokens
	}
	return min(n, maxOutputTokens)
}

type openaiShell struct {
	Command    commandLine `json:"command" also:"cmd,script" jsonschema:"the command line to run"`
	Workdir    string      `json:"workdir,omitempty" also:"cwd,dir_path,directory" jsonschema:"the directory to run it in, the working directory if left out"`
	TimeoutMs  int64       `json:"timeout_ms,omitempty" also:"timeout" jsonschema:"time limit in milliseconds, {timeout_ms} if left out, at most 600000"`
	Unconfined bool        `json:"unconfined,omitempty" also:"with_escalated_permissions" jsonschema:"ask the user to let this command run unconfined, after it failed because commands are confined here"`
}

func (s openaiShell) own() tool.BashInput {
	return tool.BashInput{Command: string(s.Command), Workdir: s.Workdir, Timeout: s.TimeoutMs, Unconfined: s.Unconfined}
}

// openaiBindings define the shell as OpenAI's models know it: one whose
// commands keep running, and the older one that waits for their end, which is
// the only one on Windows. These models have no native tools to look at files;
// they get the specification's (LOOP-29, LOOP-109).
func openaiBindings(platform string) []agent.Binding {
	if platform == "windows" {
		return openaiClassic()
	}
	return openaiUnified()
}

var (
	openaiUnified = sync.OnceValue(func() []agent.Binding {
		exec, write, classic := openaiTools()
		return []agent.Binding{exec, write, classic}
	})
	openaiClassic = sync.OnceValue(func() []agent.Binding {
		exec, write, classic := openaiTools()
		return []agent.Binding{classic, exec, write}
	})
)

func openaiTools() (exec, write, classic agent.Binding) {
	terms := []string{
		"the command takes no input", `it was started without tty and takes only Ctrl-C (\u0003); to type to it, start it again with tty`,
		"typed to task", "typed to session", "there is no task", "there is no session", "the tasks are", "the sessions are",
		"tasks are running", "sessions are running",
	}
	exec = picky(speaking(written(bind("Bash", "exec_command", "exec_command", openaiExec.own), writeUnified), terms...))
	exec.Lenience.Refused = nil // its commands may keep running anyway
	exec = ignoring(exec, "run_in_background", "is_background")
	write = speaking(written(bind("WriteStdin", "write_stdin", "write_stdin", openaiWriteStdin.own), writeUnified), terms...)
	classic = known(picky(written(written(bind("Bash", "shell_command", "shell", openaiShell.own), writeExit), writeUnified)), "local_shell", "container.exec")
	return exec, write, classic
}

// writeUnified writes a command's state before its output.
func writeUnified(p tool.Progress, _ agent.Result, cut func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Chunk ID: %s\nWall time: %.4f seconds\n", chunkID(), p.Took.Seconds())
	if p.Running {
		fmt.Fprintf(&b, "Process running with session ID %s\n", p.Task)
	} else {
		fmt.Fprintf(&b, "Process exited with code %d\n", p.ExitCode)
	}
	fmt.Fprintf(&b, "Original token count: %d\nOutput:\n", (len(p.Stdout)+bytesPerToken-1)/bytesPerToken)
	text := cut(p.Stdout)
	if limit := int(outputTokens(p.MaxOutputTokens)) * bytesPerToken; len(text) > limit {
		text = cut(middleOut(p.Stdout, limit))
	}
	b.WriteString(text)
	for _, remark := range p.Remarks {
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(sessionWords.Replace(remark))
	}
	return b.String()
}

// sessionWords are the terms that these models know.
var sessionWords = strings.NewReplacer("use run_in_background", "let the command itself run on, without &", "as task ", "as session ID ",
	"TaskOutput reads what it prints and waits for its end, TaskStop ends it.",
	"write_stdin reads what it prints and waits for its end, and ends it with \\u0003.")

// chunkID returns a name for a piece of output, which these models expect.
func chunkID() string {
	var id [3]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// middleOut keeps the first and last half of limit bytes of a text, in whole
// characters, and says what is missing between them.
func middleOut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := strings.ToValidUTF8(text[:limit/2], "")
	tail := strings.ToValidUTF8(text[len(text)-(limit-limit/2):], "")
	return fmt.Sprintf("%s\n[... %d tokens are left out here ...]\n%s", head, (len(text)-limit+bytesPerToken-1)/bytesPerToken, tail)
}
