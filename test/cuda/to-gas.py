# Debug sections of PTX as input for the GNU assembler: labels of the code become labels in .text, one per instruction.
import re,sys
src=open(sys.argv[1]).read().split('\n')
out=['.text']; sec=False; pc=0; opened=False
for l in src:
    s=l.strip()
    m=re.match(r'\.section\s+(\S+)',s)
    if m:
        out.append('.section %s,"",@progbits'%m.group(1)); sec=True
        s=s[m.end():].strip()
        if s=='': continue
    if sec:
        if s.startswith('{'): s=s[1:].strip()
        if s.startswith('}'): sec=False; out.append('.text'); continue
        s=re.sub(r'//.*','',s)
        s=s.replace('.b8','.byte').replace('.b16','.short').replace('.b32','.long').replace('.b64','.quad')
        # section name references
        s=re.sub(r'\.long\s+(\.debug_\w+)',lambda m:'.long '+m.group(1).replace('.','_S_'),s)
        out.append(s)
    else:
        m=re.match(r'(\$L__(?:tmp|func_begin|func_end)\d+):',s)
        if m: out.append(m.group(1).replace('$','$')+':')
        elif re.match(r'(@|[a-z])',s) and s.endswith(';'): out.append('.byte 0x90,0,0,0,0,0,0,0')
txt='\n'.join(out)
for n in set(re.findall(r'_S_debug_\w+',txt)): txt=txt.replace('.section .%s,"",@progbits'%n[3:],'.section .%s,"",@progbits\n%s:'%(n[3:],n),1)
txt=txt.replace('$L__','.L__').replace('$','_')
print(txt)
