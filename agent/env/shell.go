package env

import (
	"errors"
	"strings"
)

// errLines is returned for a command of several lines, of which cmd.exe would
// run the first and report its success. A batch file would be no better: "%"
// means something else there, and the first program that is one itself, such
// as npm, ends it.
var errLines = errors.New("cmd.exe runs one line at a time: join the lines with && " +
	"(or with & to go on after a failure), or write them to a file and run that")

// utf8Console comes before the line that cmd.exe runs: the console, which is
// the command's own, begins with the code page of DOS programs. The program is
// named by its path because cmd.exe looks into the working directory first.
const utf8Console = `"%SystemRoot%\System32\chcp.com" 65001 >nul & `

// interpreter is what runs a command line on a system, by its GOOS value.
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
