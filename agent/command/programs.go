package command

import (
	"maps"
	"strings"
)

// program is a row of the table: all that is known of a program. A program without a row
// may do anything.
type program struct {
	does     kind  // what it does with its operands, and more that is known of it
	commands kinds // what its commands do, where they do something else
	// usage is the use with which it only reads, and queries have those of its commands.
	// Any other use may do more; nil if there is no such use.
	usage   *usage
	queries map[string]usage
	// options say how its options are spelled, and commandOptions how those of its
	// commands are; see [spelling].
	options        string
	commandOptions map[string]string
	more           string   // options with which a program that reads does more
	values         string   // options of one letter that take a value
	wraps          *wrapper // it runs another program
	look           looker   // it needs a look of its own
	files          fileOptions
	code           *interpreter
	// deep are the options with which it also touches what is below a folder; "*" says that
	// it always does.
	deep string
	// steered are files of a project that decide what it runs.
	steered string
}

// looker looks at a call of a program, and adds what it does.
type looker func(w *walker, program string, args []value, s *scope)

// kind is what a program does. The first are exclusive; the others may come with any.
type kind uint32

// The kinds.
const (
	reads    kind = 1 << iota // only reads the files that its operands name, and prints
	prints                    // reads no files, whatever its operands
	writes                    // writes all that its operands name
	network                   // reaches other computers
	sends                     // publishes something
	destroys                  // deletes what a service keeps
	installs                  // downloads packages, and runs the scripts of some
	builds                    // runs code, configuration or tests of the project
	system                    // changes the system
	disks                     // overwrites disks
	stops                     // stops the machine

	verbs          // its first operand is a command
	shell          // its code is lines of a shell
	downloads      // its output comes from the network
	findsInstalled // runs a program by its name, which the project may have installed
	launches       // runs what an argument says
	deletes        // deletes, as rm does
	isText         // its arguments are text only
	handsOn        // does nothing else with another file than it does with one
	inBash         // is also a program of bash
	listsNames     // descends, but reads names only

	acts = verbs - 1 // all that are exclusive
)

// kinds are commands of a program by what they do. "|" separates them, and each is the
// beginning of a command without its options.
type kinds map[kind]string

// fileOptions are options of a program that name files, wherever they stand, and those that
// are followed by a program.
type fileOptions struct{ writes, reads, code string }

// programs has the rows by the names of programs. A row of several names stands for each.
var programs map[string]*program

func init() { // the rows name functions that look up rows
	programs = map[string]*program{}
	for _, rows := range []map[string]program{filePrograms, shellPrograms, buildPrograms, servicePrograms} {
		for names, p := range rows {
			for name := range strings.FieldsSeq(names) {
				programs[name] = &p
			}
		}
	}
	gitTable = maps.Clone(gitRows)
}

// row returns what is known of a program; an empty row if that is nothing.
func row(name string) *program {
	if p, ok := programs[name]; ok {
		return p
	}
	return &program{}
}

func (p *program) is(k kind) bool { return p.does&k != 0 }

// act returns what a command does, which is given by the words after its program.
func (p *program) act(command string) kind {
	found, longest := p.does&acts, 0
	for k, entries := range p.commands {
		for entry := range strings.SplitSeq(entries, "|") {
			if (command == entry || strings.HasPrefix(command, entry+" ")) && len(entry) > longest {
				found, longest = k, len(entry)
			}
		}
	}
	return found
}

// known reports whether something is known of what a program does.
func (p *program) known() bool {
	if p.look != nil || p.is(reads|prints|writes|network|sends|installs|builds) {
		return true
	}
	return p.commands[sends]+p.commands[installs]+p.commands[builds] != ""
}

// IsShell reports whether a program takes lines of a shell as its code.
func IsShell(program string) bool { return row(program).is(shell) || program == "eval" }

// Interprets reports whether a program runs code of another language than a shell's.
func Interprets(program string) bool {
	p := row(versioned().ReplaceAllString(program, "$1"))
	return p.code != nil || p.files.code != ""
}
