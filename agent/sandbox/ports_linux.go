package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mostProcesses limits how many processes of a command are looked at.
const mostProcesses = 1000

// Ports returns the ports of the loopback on which the command listens, or what it
// started, in ascending order.
func (p *Process) Ports() []int {
	var listening map[uint64]int
	if network := p.cmd.network; network != nil {
		listening = network.listening()
	} else {
		listening = map[uint64]int{}
		for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			if list, err := os.Open(path); err == nil {
				readListening(list, listening)
				_ = list.Close()
			}
		}
	}
	if len(listening) == 0 {
		return nil
	}
	var ports []int
	processes := []int{p.cmd.Process.Pid}
	for at := 0; at < len(processes) && at < mostProcesses; at++ {
		folder := "/proc/" + strconv.Itoa(processes[at])
		processes = append(processes, childProcesses(folder)...)
		open, _ := os.ReadDir(folder + "/fd")
		for _, fd := range open {
			link, _ := os.Readlink(folder + "/fd/" + fd.Name())
			number, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "socket:["), "]"), 10, 64)
			if port, ok := listening[number]; err == nil && ok {
				ports = append(ports, port)
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// Memory returns how many bytes of memory the command holds, with what it started; 0 if
// that is not known.
func (p *Process) Memory() (bytes int64) {
	processes := []int{p.cmd.Process.Pid}
	for at := 0; at < len(processes) && at < mostProcesses; at++ {
		folder := "/proc/" + strconv.Itoa(processes[at])
		processes = append(processes, childProcesses(folder)...)
		text, _ := os.ReadFile(folder + "/statm")
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				bytes += pages * int64(os.Getpagesize())
			}
		}
	}
	return bytes
}

// childProcesses returns the children of a process, given its folder.
func childProcesses(folder string) (pids []int) {
	tasks, _ := os.ReadDir(folder + "/task")
	for _, task := range tasks {
		list, _ := os.ReadFile(folder + "/task/" + task.Name() + "/children")
		for _, child := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(child); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Private reports whether the command has a loopback of its own.
func (p *Process) Private() bool { return p.cmd.network != nil }

// Dial connects to a port of the loopback that the command has.
func (p *Process) Dial(port int) (net.Conn, error) {
	network := p.cmd.network
	if network == nil {
		return net.Dial("tcp", fmt.Sprintf("localhost:%d", port))
	}
	l := wholeLauncher()
	if !l.found.Works() {
		if l = weakerLauncher(); !l.found.Works() {
			return nil, errors.New("the launcher does not work any more")
		}
	}
	return network.dial(l, port)
}
