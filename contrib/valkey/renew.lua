-- Renews a lease that the caller still has. KEYS: the lease. ARGV: the caller's token, the length of the lease in ms.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
