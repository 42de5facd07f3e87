// Package sandbox runs child processes. It is the only package that starts any,
// so that no child escapes its rules.
//
// A child gets a filtered environment ([Filter]), no descriptor but 0 to 2 and
// its own session. It has neither a terminal nor standard input, unless the
// caller wants to write to it ([Spec.TTY], [Spec.Input]). It ends with its
// context: SIGTERM to its group, SIGKILL two seconds later, and then SIGKILL to
// processes that left the group but still carry the call's marker in their
// environment. A guard beside this program does the last step if the program
// itself was killed. A process escapes only if it leaves its group and also
// drops its environment; a command that is confined ([Spec.Confine]) in a
// namespace cannot escape it. A namespace for every command would cost more than the shell itself.
//
// Windows has neither signals nor sessions. There a child is in a job object
// before its first instruction, with everything it starts; no process leaves a
// job, and a job ends with this program, however that ends. If this program has
// no console of its own, a child is first sent Ctrl-Break and has two seconds;
// otherwise its job is terminated at once.
//
// # Confined commands on Linux
//
// A confined command has namespaces of its own. It reads everything but secrets and Atelier's own
// folders, and writes the project, a /tmp that belongs to the session and layers over the user's
// caches that only confined commands see. It reaches no network, no process and no socket of other
// programs. The commands of a session share a network, in which one reaches the server that another
// one started; descriptors keep that network alive (network_linux.go). Proxies listen inside it.
//
// The plan of what a command sees (mounts_linux.go) is carried out by launcher/launcher.c, a static
// program that the tag launcher embeds and that is executed from a sealed file in memory. It
// resolves each path without links, compares what is there with what the plan has seen, and mounts
// what it has opened, so that nothing can be exchanged in between. All other mounts become
// read-only and private in one call. Rules of Landlock say the same again, because a pipe with a
// name can be written on a mount that is read-only. No command leaves a file that runs as its owner
// (setuid_linux.go), and sockets of other programs are covered (foreign_linux.go).
// docs/decisions/0001-confinement.md says why it is not bubblewrap.
//
// The command's users are below those that own the mounts, the first process cannot be traced, and
// each of the launcher's two processes dies with its parent. A command of an administrator cannot
// write below /proc/sys and its like either.
//
// .git, .agent, .claude and .vscode stay as they are, also where they do not exist: an empty folder
// takes their place while a command runs, because only what exists can be mounted over
// (placeholder_linux.go). A link in their place cannot be protected, and the command is refused. A
// repository or settings folder that a command creates deeper in the project is not noticed.
//
// Where namespaces are not allowed, Landlock takes their place (landlock_linux.go). A thread gives
// up its capabilities, takes on the rules, starts the command, which inherits them, and ends.
// Landlock only adds rights from a folder downwards, so a folder with something inside that has
// less is split into its entries (territory_linux.go): the top of a project gets no new entries,
// and a home with a hidden folder cannot be listed. A profile with hosts or sockets is then
// refused. A command that cannot be confined as asked does not run.
//
// # Secrets
//
// [Conceal] removes secrets from this program's environment and makes its /proc entry unreadable.
// [Secrets] knows the forms of keys. A hidden file of settings such as .npmrc is shown without its
// tokens; a project with more secrets than can be hidden reaches no host.
//
// # Windows
//
// cmd.exe runs commands, in a console of their own whose code page is UTF-8. A command of several
// lines is refused, because cmd.exe would run the first line and report success. Terminals and
// read-only commands are not supported there. A command can only be kept from changing files, and
// only settings that accept a weaker confinement use that.
package sandbox
