package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"

	"atelier.dev/atelier/agent/network"
)

// The bytes of SOCKS5, from RFC 1928 and RFC 1929.
const (
	socksVersion = 5

	withoutAuth, withPassword, noMethod = 0, 2, 0xff
	passwordVersion                     = 1

	commandConnect            = 1
	typeIPv4, typeName, type6 = 1, 3, 4

	replyDone, replyFailed, replyForbidden, replyUnreachable = 0, 1, 2, 4
	replyCommand, replyType                                  = 7, 8
)

// errSOCKS is a request that does not follow the protocol.
var errSOCKS = errors.New("not a request of SOCKS5")

// answerSOCKS answers a request of SOCKS5.
func (c *client) answerSOCKS(ctx context.Context) {
	if c.greet() != nil {
		return
	}
	command, target, err := c.readSOCKS()
	switch {
	case errors.Is(err, errSOCKS):
		c.reply(replyType)
		return
	case command != commandConnect:
		c.reply(replyCommand)
		return
	}
	upstream, err := c.reach(ctx, target, err)
	var refusal *network.Refusal
	switch {
	case errors.As(err, &refusal):
		c.reply(replyForbidden)
		return
	case err != nil:
		c.reply(replyUnreachable)
		return
	}
	c.reply(replyDone)
	c.relay(ctx, upstream, nil)
}

// greet agrees on how the client says who it is, and checks that.
func (c *client) greet() error {
	var head [2]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c.in, methods); err != nil {
		return err
	}
	want := byte(withoutAuth)
	if c.proxy.secret != "" {
		want = withPassword
	}
	for _, method := range methods {
		if method != want {
			continue
		}
		if _, err := c.Write([]byte{socksVersion, want}); err != nil || want == withoutAuth {
			return err
		}
		return c.checkPassword()
	}
	_, err := c.Write([]byte{socksVersion, noMethod})
	return errors.Join(errSOCKS, err)
}

func (c *client) checkPassword() error {
	version, err := c.in.ReadByte()
	if err != nil || version != passwordVersion {
		return errors.Join(errSOCKS, err)
	}
	user, err := c.readText()
	if err != nil {
		return err
	}
	password, err := c.readText()
	if err != nil {
		return err
	}
	if !c.proxy.permits(user, password) {
		_, err := c.Write([]byte{passwordVersion, replyFailed})
		return errors.Join(errSOCKS, err)
	}
	_, err = c.Write([]byte{passwordVersion, replyDone})
	return err
}

// readText reads a text of at most 255 bytes.
func (c *client) readText() (string, error) {
	size, err := c.in.ReadByte()
	if err != nil {
		return "", err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(c.in, text)
	return string(text), err
}

// readSOCKS reads what the client asks for. The error may be a
// [*network.Refusal].
func (c *client) readSOCKS() (command byte, t network.Target, err error) {
	var head [4]byte // version, command, reserved, type of the address
	if _, err := io.ReadFull(c.in, head[:]); err != nil || head[0] != socksVersion {
		return 0, t, errors.Join(errSOCKS, err)
	}
	var host string
	switch head[3] {
	case typeIPv4, type6:
		bytes := make([]byte, map[byte]int{typeIPv4: 4, type6: 16}[head[3]])
		_, err = io.ReadFull(c.in, bytes)
		addr, _ := netip.AddrFromSlice(bytes)
		host = addr.String()
	case typeName:
		host, err = c.readText()
	default:
		err = errSOCKS
	}
	var port [2]byte
	if err == nil {
		_, err = io.ReadFull(c.in, port[:])
	}
	if err != nil {
		return 0, t, errors.Join(errSOCKS, err)
	}
	t, err = network.NewTarget(host, binary.BigEndian.Uint16(port[:]))
	return head[1], t, err
}

// reply answers a request. The address in it is of no use to a client.
func (c *client) reply(code byte) {
	_, _ = c.Write([]byte{socksVersion, code, 0, typeIPv4, 0, 0, 0, 0, 0, 0})
}
