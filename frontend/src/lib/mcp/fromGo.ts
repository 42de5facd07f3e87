/** What Go says about servers, in Chinese. */
import type { Happening } from '../types.gen'

export const findings: Record<string, string> = {
  not_object: '定义不是 JSON 对象，或其中有重复的成员。',
  name_empty: '服务器没有名称。',
  name_underscores: '服务器的名称中不能有连续两个下划线。',
  name_long: '服务器的名称最多 {0} 个字符。',
  name_hidden: '服务器的名称含有看不见的字符。',
  member: '{0} 的值不合适。',
  unknown: '{0} 在这里没有意义。',
  ignored: '这里不使用 {0}。',
  transport: '没有传输方式 {0}。',
  type_assumed: '缺少类型，按 Streamable HTTP 处理。',
  nothing: '定义中既没有命令也没有地址。',
  no_command: '缺少命令。',
  no_url: '缺少地址。',
  url: '地址不是 http 或 https 地址，或其中含有密码。',
  header: '请求头 {0} 无法发送。',
  variable_name: '{0} 不能作为变量名。',
  helper: 'headersHelper 指定了一个程序，不会运行它。',
  env_file: '不会读取 {0}。请在 env 中写明变量。',
  trusted_ignored: '项目声称可以相信该服务器的提示。只有你自己的设置才能这样说。',
  unset: '变量 {0} 没有设置。',
  unset_left_out: '变量 {0} 没有设置，因此省略 {1}。',
  input: '{0} 的值需要由你提供。请导入该服务器以输入它。',
  secret_missing: '本机没有保存 {0} 的密钥。请输入它。',
  secret_unread: '无法从密钥环读取 {0} 的密钥。',
  secret_in_file:
    '{0} 的值写在文件中，能读取该文件的人都能看到。在这里输入即可把它保存在密钥环中。',
  placeholder: '{0} 的值像是占位符。',
  takes_name: '一旦你信任它，它会取代 {0} 中的同名服务器，针对那个服务器的规则也适用于它。',
  shadows: '{0} 中也定义了同名服务器，以这里的为准。',
  shadowed: '{0} 中定义了同名服务器，以那里的为准。',
}

export const happenings: Record<Happening, string> = {
  connected: '已用协议 {0} 连接',
  failed: '{0}',
  stream_ended: '变更通知的数据流已结束：{0}',
  unlisted: '无法重新列出它的工具：{0}',
  no_templates: '无法列出它的资源模板：{0}',
  cut: '{0} 的列表在 {1} 项之后被截断',
  cut_endless: '{0} 的列表没有尽头，在 {1} 项之后被截断',
  no_message: '不是消息的内容：{0}',
  foreign: '收到一个并未请求的回答：id {0}',
  too_long: '消息大小为 {0}，最多接受 {1}',
}
