package confine

import (
	"net"
	"slices"
)

// Profile is what a confined command may do. Its zero value reads every file,
// writes nothing but private temporary files and reaches nobody.
//
// All paths are absolute. Links in them are followed when a command starts, so
// that a profile names places and not spellings.
type Profile struct {
	// Writable lists folders in which the command may change everything.
	Writable []string
	// Protected lists files and folders that it cannot change in spite of
	// Writable. One that does not exist cannot be created either.
	Protected []string
	// Hidden lists files and folders that it cannot read, and Readable what it
	// may read inside them. Writable folders stay visible inside Hidden ones.
	Hidden, Readable []string
	Covered
	// Frozen lists the folders whose own entries it cannot create, rename or
	// delete in spite of Writable, because the system could not protect what is in
	// them otherwise. The system fills it in.
	Frozen []string
	// Temp is the folder that the command sees as its folder for temporary
	// files. If it is empty, the command has one of its own, which ends with it.
	Temp string
	// Caches are folders in which programs keep what they can make or fetch again.
	Caches []Cache
	// Env replaces variables of the command's environment ("NAME=value").
	Env []string
	// Network says whom it reaches, and Proxy answers for [NetworkProxy]. With
	// [NetworkNone] a proxy refuses, so that programs fail at once and say why instead
	// of looking for names for minutes; where commands have no network of their own, it
	// does not answer.
	Network Network
	Proxy   Proxy
	// LocalBinding lets programs outside connect to ports that it opens, where
	// the system can tell.
	LocalBinding bool
	// Sockets says which sockets of this machine it may use.
	Sockets Sockets
	Relaxed
}

// Covered says what a command sees instead of files. Stubs says for which of Protected
// a file stands in while there is none, instead of an empty folder. Where something can
// be mounted, Secrets lists files that it cannot read either, also in Writable folders,
// and Shown those of which it reads something else.
type Covered struct {
	Stubs   []Stub
	Secrets []string
	Shown   []Shown
}

// Stub is a file that stands where there must be none, with a text that means to who
// reads it what no file means.
type Stub struct{ Path, Text string }

// Shown is a file of which a command reads another one, and which it cannot change. A
// harmless one may be read itself where that cannot be done.
type Shown struct {
	Path, Source string
	Harmless     bool
}

// Relaxed is what a profile does without where it would be in the way. Nested
// lets a command confine its own children. Weaker accepts a means that works
// inside a container and enforces less.
type Relaxed struct{ Nested, Weaker bool }

// Cache is a folder of the user's, of which the command sees what is there, and which
// only confined commands see changed: nothing that they put there is run by others.
type Cache struct {
	Path string // the user's; empty if the home is not known
	Own  string // where the changes are kept
	// Variable leads programs to Own where nothing can be put over Path; empty if
	// there is no such variable.
	Variable string
}

// environ returns the variables that lead to the own folders of caches.
func (p Profile) environ() (env []string) {
	for _, c := range p.Caches {
		if c.Variable != "" {
			env = append(env, c.Variable+"="+c.Own)
		}
	}
	return env
}

// WithoutLayers returns the profile for a system on which nothing can be put over a
// folder or a file: variables lead to the own folders of caches, as far as programs know
// them, and files outside of writable folders that would be shown otherwise are hidden.
func (p Profile) WithoutLayers() Profile {
	for _, s := range p.Shown {
		if !s.Harmless && !slices.ContainsFunc(p.Writable, func(dir string) bool { return within(dir, s.Path) }) {
			p.Hidden = append(slices.Clone(p.Hidden), s.Path)
		}
	}
	p.Shown, p.Secrets = nil, nil
	p.Env, p.Caches = append(p.environ(), p.Env...), nil
	return p
}

// Sockets says which sockets with a path a confined command may use.
type Sockets string

// The kinds of sockets. The zero value is none.
const (
	SocketsNone Sockets = ""
	SocketsOwn  Sockets = "own" // those that confined commands of its session open
	SocketsAll  Sockets = "all" // also those of other programs, as far as it sees them
)

// Network says whom a confined command reaches.
type Network string

// The kinds of network. The zero value is none: the command has at most a
// loopback of its own.
const (
	NetworkNone  Network = ""
	NetworkProxy Network = "proxy" // what [Proxy] lets through
	NetworkFull  Network = "full"
)

// Proxy decides whom a command reaches, and is the only way out for it. Each command has one of its own.
//
// Where commands have a network of their own (namespaces), the proxy listens on
// the loopback of that network from before the command begins. Elsewhere it
// listens on the loopback of this machine, and the command may connect to its port
// alone.
type Proxy interface {
	// Environ returns the variables that lead programs to the proxy at addr, a
	// host and a port. If it is shared, other programs of this machine can reach
	// it, and it answers only to who shows a secret that is in the variables. It
	// is called once, before Serve.
	Environ(addr string, shared bool) []string
	// Serve answers connections until the listener is closed, which happens
	// when the command has ended, and then ends its connections.
	Serve(net.Listener)
	// Refused returns what was refused so far, as clauses that name the host, and
	// Wanted the hosts among them for which a person is asked if the same command runs
	// again.
	Refused() []string
	Wanted() []string
}

// Means is what a system confines commands with.
type Means string

// The means.
const (
	Nothing         Means = ""
	Namespaces      Means = "namespaces" // made by this program's own launcher
	Landlock        Means = "landlock"
	Seatbelt        Means = "seatbelt"
	RestrictedToken Means = "restricted_token"
)

// Level says how much of a profile is enforced here.
type Level struct {
	By Means `json:"by"`
	// Writes, Reads, Network, Sockets and Processes say of what the command is
	// kept by the system: changing other files, reading hidden ones, the network,
	// sockets of this machine, and seeing or outliving other processes.
	Writes    bool `json:"writes"`
	Reads     bool `json:"reads"`
	Network   bool `json:"network"`
	Sockets   bool `json:"sockets"`
	Processes bool `json:"processes"`
	// Lack says why it is not more; Detail has the system's own words.
	Lack   Lack   `json:"lack,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Works reports whether commands can be confined at all: they cannot change
// other files, read hidden ones or use the network.
func (l Level) Works() bool { return l.By != Nothing && l.Writes && l.Reads && l.Network }

// Holds reports whether commands can be confined so that nobody has to look at them
// first (K-47). Landlock alone cannot: what it refuses would be met too often, and what
// commands leave running may outlive them.
func (l Level) Holds() bool { return l.Works() && (l.By == Namespaces || l.By == Seatbelt) }

// Whole reports whether everything in a profile is enforced.
func (l Level) Whole() bool { return l.Works() && l.Sockets && l.Processes }

// Lack is why a level is not higher.
type Lack string

// The reasons.
const (
	LackMissing     Lack = "missing"     // this build has no launcher
	LackRefused     Lack = "refused"     // the system allows no namespaces
	LackKernel      Lack = "kernel"      // the kernel lacks what is needed
	LackUnsupported Lack = "unsupported" // there is no means for this system
	LackWeaker      Lack = "weaker"      // settings accept less, because this is a container
	LackReads       Lack = "reads"       // the system confines nothing but writing
	LackProcesses   Lack = "processes"   // the system does not separate processes
	LackMounts      Lack = "mounts"      // rights are taken away, but nothing is mounted or separated
	LackSignals     Lack = "signals"     // the same, and other programs can be ended
)

// Reason says in a sentence why the level is not higher.
func (l Level) Reason() string { return l.Lack.sentence() }

// Sentence returns the level for a person, in one sentence.
func (l Level) Sentence() string {
	switch {
	case l.Whole():
		return "Commands can be confined completely (" + string(l.By) + ")."
	case l.Works():
		return "Commands can be confined in part (" + string(l.By) + "): " + l.Lack.sentence()
	}
	return "Commands cannot be confined: " + l.Lack.sentence()
}

func (k Lack) sentence() string {
	switch k {
	case LackMissing:
		return "this build of Atelier has no launcher for them."
	case LackRefused:
		return "the system does not allow namespaces to be made."
	case LackKernel:
		return "this kernel lacks what it takes."
	case LackWeaker:
		return "the settings accept a weaker form, for use in a container."
	case LackReads:
		return "this system can keep them from changing other files, but neither from reading them nor from using the network."
	case LackMounts:
		return "they see the other programs that run, can change modes and times of files that they may not write, create nothing directly in the " +
			"project's folder, cannot be given single hosts, and what they leave running may outlive them."
	case LackSignals:
		return "they see the other programs that run and can end them, can change modes and times of files that they may not write, create nothing " +
			"directly in the project's folder, cannot be given single hosts, and what they leave running may outlive them."
	case LackProcesses:
		return "they see the other programs that run, and what they leave running may outlive them."
	}
	return "there is no way to do so on this system."
}
