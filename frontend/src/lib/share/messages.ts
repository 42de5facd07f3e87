import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'Share the session live',
  about:
    'Whoever has the link sees this session, as it happens or recorded, and can change nothing.',
  reach: 'Who can reach it',
  machine: 'This machine',
  network: 'The network',
  tunnel: 'Anyone, through a tunnel',
  file: 'A recording',
  file_note:
    'One encrypted file. It opens in any browser without a network, and only with its key.',
  key_note:
    'What follows # is the key, which Atelier does not keep. Open the file in a browser with it after the address, or type it when the page asks.',
  save: 'Save',
  network_note:
    'Everyone in your network who has the link can watch. It is sent without encryption.',
  tunnel_note: '{name} makes a public address for this share, and ends with it.',
  tunnel_none:
    'No program for tunnels was found. Install cloudflared or ngrok so that Atelier finds it on PATH.',
  hours: 'Ends after',
  hour: '1 hour',
  day: '1 day',
  week: '7 days',
  password: 'Password',
  password_hint: 'Optional. It does not leave this machine.',
  output: 'What tools return',
  reasoning: 'Thinking',
  costs: 'Costs',
  home: 'Write ~ for the path of your folder',
  words: 'Other texts to take out, one per line',
  patterns: 'Regular expressions to take out, one per line',
  preview: 'What viewers see so far',
  looking: 'Looking for secrets…',
  start: 'Share',
  starting: 'Sharing…',
  link: 'Link',
  link_note: 'Copy it now: Atelier does not keep the link, and cannot show it again.',
  copy: 'Copy the link',
  active: 'Shares',
  viewers: 'Viewers: {n}',
  until: 'until {time}',
  with_password: 'with a password',
  revoke: 'End',
  revoke_this: 'End the share of {title}',
  revoked: 'ended by you',
  expired: 'its time was over',
  tunnel_ended: 'the tunnel ended',
  closed: 'Atelier was closed',
  deleted: 'the session was deleted',
  failed: 'the session could not be read',
} as const

export const own = translator('share/messages', messages)
