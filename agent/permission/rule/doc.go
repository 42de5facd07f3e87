// Package rule reads permission rules such as "Bash(git push *)" and judges calls
// by them. A rule names a tool and, in brackets, which of its calls it is about:
//
//	Bash                    every command
//	Bash(npm run test)      this command
//	Bash(npm run test:*)    this command with any arguments, as does Bash(npm run test *)
//	Read(src/**)            files of the project, with the patterns of .gitignore
//	Read(//etc/hosts)       a file of the computer; Read(~/notes/*) begins at the home folder
//	Edit(docs/**)           every tool that changes files, and what commands write
//	WebFetch(domain:go.dev) a host
//	Network(domain:go.dev)  a host that confined commands reach
//	mcp__server             every tool of a server
//	Agent(reviewer)         an agent of this name, which Atelier's own tool does not give
//
// What a rule denies or asks about is matched generously, what it allows strictly:
// what cannot be told is never allowed.
//
// A command line is read by command.Trace. A rule that denies or asks holds if any step may be
// meant: by its program's base name, with the rule's words in order among its arguments, also in
// the scripts that it runs. A rule that allows holds word by word, and the line runs only if every
// step is allowed or only reads in the project, writes where it may, and has nothing in it that
// cannot be told.
//
// A rule about reading also asks about what git prints from its repository: the files of its index,
// and for older versions everything that may ever have been committed (printed.go). A dangerous
// command needs a rule for exactly this command, and no rule for all commands lets one run
// unconfined (allow.go). The order is deny, ask, allow; an allow never skips a question about
// secrets or protected files. [SuggestParts] proposes a rule for each part of a line.
package rule
