package env

import (
	"errors"
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

// interpreter returns the arguments that run a command line on a system, a GOOS
// value.
func interpreter(system, line string) (argv []string, err error) {
	if system != "windows" {
		return []string{"/bin/bash", "--norc", "--noprofile", "-c", line}, nil
	}
	line = strings.TrimSpace(line)
	if strings.ContainsAny(line, "\r\n") {
		return nil, errLines
	}
	return []string{"cmd.exe", "/d", "/s", "/c", utf8Console + line}, nil
}
