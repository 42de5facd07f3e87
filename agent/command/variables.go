package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
)

// steering variables decide which programs run, as patterns; * stands for any
// ending.
var steering = strings.Fields(`
	PATH HOME XDG_CONFIG_HOME LD_* DYLD_* BASH_ENV ENV IFS PROMPT_COMMAND SHELLOPTS BASHOPTS BASH_FUNC_* PAGER EDITOR VISUAL GIT_* NODE_OPTIONS NODE_PATH
	PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GOFLAGS GOENV GOROOT
	CC CXX RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS MAKEFLAGS MAKEFILES npm_config_* TAR_OPTIONS RIPGREP_CONFIG_PATH CURL_HOME WGETRC
	GLOBIGNORE BASH_CMDS BASH_ALIASES BASH_LOADABLES_PATH EXECIGNORE POSIXLY_CORRECT MANPAGER LESSOPEN LESSCLOSE BROWSER SUDO_ASKPASS SSH_ASKPASS PS4 SHELL`)

// idle are steering variables by name, but of values only.
var idle = strings.Fields(`
	GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT GIT_LFS_SKIP_SMUDGE GIT_PAGER_IN_USE GIT_DISCOVERY_ACROSS_FILESYSTEM
	npm_config_loglevel npm_config_yes npm_config_audit npm_config_fund npm_config_update_notifier npm_config_production npm_config_color`)

// harmlessValues are programs that steering variables may name.
var harmlessValues = strings.Fields("cat true : less more vi vim nano gcc g++ cc c++ clang clang++ sccache ccache sh bash")

func named(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		begin, more := strings.CutSuffix(p, "*")
		return name == begin || more && strings.HasPrefix(name, begin)
	})
}

// steers notes a variable that decides which programs run, or whose text runs
// commands.
func (w *walker) steers(name string, v value) {
	name, _, _ = strings.Cut(name, "[") // an element of it
	for _, p := range v {
		if evaluated().MatchString(p.text) {
			w.add(agent.EffectUnknown, name+"="+p.text)
		}
	}
	if v.text() == "" && v.exact() && name != "PATH" || !named(steering, name) || named(idle, name) || v.exact() && w.isHarmless(name, v.text()) {
		return
	}
	w.add(agent.EffectUnknown, name+"="+v.text())
}

// isHarmless reports whether a value of a steering variable changes nothing
// that matters.
func (w *walker) isHarmless(name, text string) bool {
	switch name {
	case "PS4":
		return !strings.ContainsAny(text, "$`")
	case "GOFLAGS", "RUSTFLAGS", "MAKEFLAGS", "NODE_OPTIONS": // they name programs with other options
		return !slices.ContainsFunc([]string{"exec", "overlay", "vettool", "linker", "--eval", "SHELL", "require", "import", "loader", "-r", "-f"}, func(option string) bool {
			return strings.Contains(text, option)
		})
	case "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB":
		return !slices.ContainsFunc(filepath.SplitList(text), func(dir string) bool {
			return !filepath.IsLocal(dir) && !w.at.inside(dir)
		})
	case "HOME", "XDG_CONFIG_HOME":
		return text == w.at.Home || strings.HasPrefix(text, "/tmp/tmp.X")
	case "PATH", "IFS":
		return false
	}
	return slices.Contains(harmlessValues, text) || filepath.IsAbs(text) && slices.Contains(systemFolders, filepath.Dir(text)) && slices.Contains(harmlessValues, filepath.Base(text))
}

// evaluated matches texts that run commands where bash takes them for numbers.
var evaluated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\[[^\\]]*(\\$\\(|`)") })

// assigners are builtins whose operands name variables.
var assigners = strings.Fields("read mapfile readarray getopts printf let unset export declare typeset local readonly wait test [ shopt")

// changing variables are set by bash itself.
var changing = strings.Fields("_ PWD OLDPWD REPLY OPTARG OPTIND MAPFILE COPROC DIRSTACK FUNCNAME LINENO RANDOM SRANDOM SECONDS EPOCH* BASH* PIPESTATUS UID EUID GROUPS HISTCMD")

// assignsBy notes what builtins do to variables that are among their arguments, whose
// values are unknown from then on.
func (w *walker) assignsBy(program string, args []value, s *scope) {
	if !slices.Contains(assigners, program) {
		return
	}
	for i, arg := range args {
		w.forgets(program, arg, namesVariable(arg.text()) || i > 0 && namesVariable(args[i-1].text()), s)
		for _, p := range arg {
			if evaluated().MatchString(p.text) {
				w.add(agent.EffectUnknown, program+" "+p.text)
			}
		}
		text := arg.text()
		name, set, given := strings.Cut(text, "=")
		switch program {
		case "export", "declare", "typeset", "local", "readonly":
			if given && !strings.HasPrefix(text, "-") {
				if strings.Contains(name, "$") {
					w.add(agent.EffectUnknown, text)
				}
				w.steers(name, value{{text: set, exact: arg.exact()}})
			}
		case "read", "mapfile", "readarray", "getopts":
			if strings.HasPrefix(text, "-") && strings.Contains(text, "C") && program != "read" {
				w.add(agent.EffectUnknown, program+" -C")
			}
			name := variableIn(text)
			w.sets(name, arg)
			if name == "CDPATH" { // it is not known where cd leads
				w.add(agent.EffectUnknown, name+"="+unnamed)
			}
		case "unset":
			if variableIn(text) == "PATH" || !arg.exact() { // without it, programs are looked for in the present folder
				w.steers("PATH", value{{text: unnamed}})
			}
		case "shopt":
			if changes(args) && !strings.HasPrefix(text, "-") && !slices.Contains(idleOptions, text) {
				w.add(agent.EffectUnknown, "shopt "+text)
			}
		case "wait":
			if i > 0 && strings.HasPrefix(args[i-1].text(), "-") && strings.HasSuffix(args[i-1].text(), "p") {
				w.sets(text, arg)
			} else if _, name, ok := strings.Cut(text, "p"); ok && strings.HasPrefix(text, "-") {
				w.steers(name, value{{text: unnamed}})
			}
		case "printf":
			if i > 0 && args[i-1].text() == "-v" {
				w.sets(text, arg)
			} else if i == 0 && strings.HasPrefix(text, "-v") {
				w.sets(text[2:], arg)
			} else if (i == 0 || i == 1 && args[0].text() == "--") && text != "--" {
				w.formats(arg, args[i+1:])
			}
		}
	}
}

// sets notes that a builtin gives a variable a value that is not known. The
// argument has the variable's name, which may not be known either.
func (w *walker) sets(name string, argument value) {
	w.steers(name, value{{text: unnamed}})
	if !argument.exact() {
		w.add(agent.EffectUnknown, argument.text())
	}
}

// idleOptions are those of shopt with which a line means what it means without
// them. With others, patterns match files that may hold secrets, a pipeline sets
// variables, or cd leads elsewhere.
var idleOptions = strings.Fields("nullglob extglob failglob inherit_errexit nocasematch expand_aliases xpg_echo checkwinsize histappend cmdhist errexit nounset pipefail xtrace")

// changes reports whether arguments of shopt set or unset options.
func changes(args []value) bool {
	return slices.ContainsFunc(args, func(arg value) bool {
		return !arg.exact() || strings.HasPrefix(arg.text(), "-") && strings.ContainsAny(arg.text(), "su")
	})
}

// namesVariable reports whether an argument is an option of printf or wait that names a
// variable.
func namesVariable(argument string) bool {
	return strings.HasPrefix(argument, "-") && strings.ContainsAny(argument, "vp")
}

// formats looks at a format of printf, and at its arguments, which may be names of
// variables.
func (w *walker) formats(format value, args []value) {
	switch {
	case format.exact() && PrintfAssigns(format.text()), !format.exact() && slices.ContainsFunc(args, func(arg value) bool { return named(steering, arg.text()) }):
		w.add(agent.EffectUnknown, "printf "+format.text())
	case !format.exact() && !exact(args):
		w.now.noteUnread("printf " + format.text())
	}
}

// refers reports whether options of a builtin declare names for other variables.
func refers(options []value) bool {
	return slices.ContainsFunc(options, func(o value) bool { return strings.HasPrefix(o.text(), "-") && strings.Contains(o.text(), "n") })
}

var (
	systemFolders = strings.Fields("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin /snap/bin")
	streams       = strings.Fields("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/urandom /dev/random /dev/fd/0 /dev/fd/1 /dev/fd/2")

	// gitSettings run nothing, whatever their value, as patterns.
	gitSettings = strings.Fields(`
		user.name user.email core.quotepath core.autocrlf core.eol core.ignorecase core.filemode color.* advice.* init.defaultbranch commit.gpgsign tag.gpgsign
		pull.rebase pull.ff push.default merge.conflictstyle diff.renames log.date safe.directory protocol.version branch.*.* fetch.prune rebase.autostash`)

	// longValues are long options that take the next argument, of any program.
	longValues = strings.Join(strings.Fields(`
		data data-raw data-ascii data-binary data-urlencode json form form-string upload-file request method output output-dir header user user-agent proxy config url max-time connect-timeout
		post-data post-file body-data body-file output-document directory target-directory expression file retry cookie cacert rsh rsync-path message
		branch depth exclude include exec command
		dump-header cookie-jar trace trace-ascii stderr libcurl hsts alt-svc etag-save etag-compare resolve connect-to unix-socket abstract-unix-socket doh-url
		url-query variable netrc-file key cert preproxy socks5 socks5-hostname interface input-file execute use-askpass post-file
		to-command use-compress-program checkpoint-action rsh-command new-volume-script info-script one-top-level unzip-command
		template reference receive-pack upload-pack origin`), " ")
)
