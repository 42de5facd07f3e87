package env

import (
	"errors"
	"fmt"
	"strings"
)

// errLines is returned for a command of several lines, because cmd.exe would
// run the first one and report its success. A batch file would not help: "%"
// has another meaning there, and the first program that is itself a batch file,
// such as npm, would end it.
var errLines = errors.New("cmd.exe runs one line at a time: join the lines with && " +
	"(or with & to go on after a failure), or write them to a file and run that")

// utf8Console precedes the line that cmd.exe runs, because the command's
// console starts with the code page of DOS programs. The program is named by
// its path because cmd.exe looks into the working directory first.
const utf8Console = `"%SystemRoot%\System32\chcp.com" 65001 >nul & `

// Limits of a command line, in bytes: Linux takes no longer argument, with the
// zero at its end, and cmd.exe no longer line, with what precedes it.
const (
	maxCommand        = 128<<10 - 1
	maxWindowsCommand = 8191 - len(utf8Console) - len("cmd.exe /d /s /c ")
)

// checkLine returns an error that says what to do with a line that no system
// takes.
func checkLine(system, line string) error {
	most := maxCommand
	if system == "windows" {
		most = maxWindowsCommand
	}
	if len(line) <= most {
		return nil
	}
	return fmt.Errorf("the command line has %d bytes and the system takes %d: write the long text to a file "+
		"(with Write or another tool for files) and use that file in the command", len(line), most)
}

// interpreter returns the arguments that run a command line on a system, a GOOS
// value.
func interpreter(system, line string) (argv []string, err error) {
	if err := checkLine(system, line); err != nil {
		return nil, err
	}
	if system != "windows" {
		return []string{"/bin/bash", "--norc", "--noprofile", "-c", line}, nil
	}
	line = strings.TrimSpace(line)
	if strings.ContainsAny(line, "\r\n") {
		return nil, errLines
	}
	return []string{"cmd.exe", "/d", "/s", "/c", utf8Console + line}, nil
}
