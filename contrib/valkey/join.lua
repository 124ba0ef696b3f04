-- Returns what a caller that needs an entry must do.
--   {"entry", text}    the entry exists
--   {"failure", words} the holder that the caller has waited for has failed
--   {"wait", holder}   another caller makes it
--   {"claim", ""}       the caller must make it, and has the lease now
-- KEYS: the entry, the lease. ARGV: the caller's token, the length of the lease in ms, the holder waited for or "", and
-- the SHA-1 in hex of an expired entry, which counts as none, or "".
-- A lease is the token of its holder, or "!", that token and the text of its failure.
local entry = redis.call('GET', KEYS[1])
if entry and (ARGV[4] == '' or redis.sha1hex(entry) ~= ARGV[4]) then return {'entry', entry} end
local lease = redis.call('GET', KEYS[2])
if lease then
  if string.sub(lease, 1, 1) ~= '!' then return {'wait', lease} end
  local told = '!' .. ARGV[3]
  if ARGV[3] ~= '' and string.sub(lease, 1, #told) == told then
    return {'failure', string.sub(lease, #told + 1)}
  end
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return {'claim', ''}
